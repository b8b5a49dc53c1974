// Formats numbers, instants and tiers.

export const count = n => n == null ? '–' : n.toLocaleString('en');
export const percent = share => `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
export const energy = n => n == null ? '–' : n > 0 && n < 0.001 ? '<0.001' : n.toFixed(3);
export const trace = n => n == null ? '–' : n > 0 && n < 0.01 ? '<0.01' : n.toFixed(2);

export const HOUR = 3600e3, DAY = 24 * HOUR;
const UNITS = [[100, 1, 's'], [5400, 60, 'min'], [172800, 3600, 'h'], [63072000, 86400, 'd'], [Infinity, 31557600, 'years']];
export function span(ms) {
  const s = Math.abs(ms) / 1000, [, size, unit] = UNITS.find(([below]) => s < below);
  return `${Math.round(s / size).toLocaleString('en')} ${unit}`;
}
export const stamp = at => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
export const relative = (t, now) => t > now ? `in ${span(t - now)}` : `${span(now - t)} ago`;

// Characters that change the direction of text are replaced by a visible one.
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;
export const short = (value, most) =>
  (value.length > most ? `${value.slice(0, most)} …` : value).replace(TURNS, '\ufffd');

export const LIVE = ['working', 'shortTerm', 'longTerm'];
export const kind = tier => LIVE.includes(tier) ? tier : 'other';
export const standing = ({ tier, pinned }) => pinned ? `${tier}, pinned` : tier;
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
