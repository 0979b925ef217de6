/** Everything of `from` is given to `into`. */
export type MoveOwnerInput = {
  readonly from: string;
  readonly into: string;
  /** True: `into` must already be an owner. False: it must not be one yet. */
  readonly isJoin: boolean;
  /** True: nothing changes. Default false. */
  readonly isPreview?: boolean;
  /** The actor, for the audit log. */
  readonly actorId: string;
};
