/** The technologies of stores. */
export const STORE_BACKENDS = ["sqlite", "postgres"] as const;
export type StoreBackend = (typeof STORE_BACKENDS)[number];
