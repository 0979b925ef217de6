export const conflicts = {};
