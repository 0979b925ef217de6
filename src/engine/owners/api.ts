/** Everything of `from` becomes that of `into`. */
export type MoveOwnerInput = {
  readonly from: string;
  readonly into: string;
  /** True: `into` has to be an owner already. False: it may not be one yet. */
  readonly isJoin: boolean;
  /** True: nothing changes. Default false. */
  readonly isPreview?: boolean;
  /** Who does it, for the audit log. */
  readonly actorId: string;
};
