import { effect, signal } from "@preact/signals";

const PLACE = "svc.look";
export const LOOKS = ["system", "light", "dark"] as const;
export type Look = (typeof LOOKS)[number];

/** Light, dark, or as the system has it. */
export const look = signal<Look>(
  LOOKS.find((one) => one === localStorage.getItem(PLACE)) ?? "system",
);

export function applyLook(): void {
  effect(() => {
    const { value } = look;
    document.documentElement.dataset["look"] = value;
    if (value === "system") localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, value);
  });
}
