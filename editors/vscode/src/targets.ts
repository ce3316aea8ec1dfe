/** The items of the picker that chooses the card. */

/** A card as the server lists it; see `nanolint gpus --format json`. */
export interface Card {
  readonly name: string;
  /** What torch reports as total memory, in bytes. */
  readonly total_bytes: number;
  readonly sm_count: number;
}

export interface TargetItem {
  readonly label: string;
  readonly description: string;
  /** What nanolint.selectTarget is told; null clears, undefined asks for a name. */
  readonly gpu: string | null | undefined;
}

const GIB = 2 ** 30;

export function targetItems(cards: readonly Card[], current: readonly string[]): TargetItem[] {
  return [
    {
      label: "$(settings) Follow the settings",
      description: "the gpu of pyproject.toml or nanolint.toml, else the card in this machine",
      gpu: null,
    },
    {
      label: "$(edit) Type a name, a size or a node",
      description: "4070, 12GB, 11.69GiB, 8xA100-40GB",
      gpu: undefined,
    },
    ...cards.map((card) => ({
      label: current.includes(card.name) ? `$(check) ${card.name}` : card.name,
      description: `${(card.total_bytes / GIB).toFixed(2)} GiB, ${card.sm_count} SMs`,
      gpu: card.name,
    })),
  ];
}

export interface ScopeItem {
  readonly label: string;
  readonly description: string;
  readonly scope: "session" | "settings";
}

export const SCOPES: readonly ScopeItem[] = [
  { label: "Only for this session", description: "until the server is restarted", scope: "session" },
  {
    label: "Write it into the settings",
    description: "into the pyproject.toml or nanolint.toml of the config",
    scope: "settings",
  },
];
