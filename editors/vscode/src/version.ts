/** nanolint's version, as `nanolint --version` prints it. */

export type Version = readonly [major: number, minor: number, patch: number];

/** The first release with `nanolint server`. */
export const OLDEST: Version = [0, 1, 0];

/** The version in "nanolint 0.1.0"; undefined where another program answered. */
export function parseVersion(printed: string): Version | undefined {
  const match = /^nanolint (\d+)\.(\d+)(?:\.(\d+))?/.exec(printed.trim());
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

export function isOlder(one: Version, other: Version): boolean {
  const place = one.findIndex((part, index) => part !== other[index]);
  return place >= 0 && one[place]! < other[place]!;
}

export function format(version: Version): string {
  return version.join(".");
}
