/** Whether the rights of a folder decide who may use a file in it: there are no users with numbers and no mode bits. */
export const IS_WINDOWS: boolean = process.platform === "win32";

/** This machine, as in the names of executables, kept libraries and packages: `linux-x64`. */
export const PLATFORM = `${IS_WINDOWS ? "windows" : process.platform}-${process.arch}`;

/** The ending of a native library's file name, without a point. */
export const LIBRARY_SUFFIX: string = IS_WINDOWS
  ? "dll"
  : process.platform === "darwin"
    ? "dylib"
    : "so";
