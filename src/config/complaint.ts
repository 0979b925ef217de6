/** A setting whose value is readable but not acceptable. The reason never holds a secret. */
export type Complaint = { readonly setting: string; readonly reason: string };
