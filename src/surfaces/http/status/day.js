// The day shown: a slider and a date set the instant of all energies on the page. Energies are functions of time, so any
// instant can be shown.

import { $, prose } from './dom.js';
import { DAY, relative, stamp } from './format.js';
import { get, now, onChange, set, shown } from './state.js';

const instant = days => new Date(now() + days * DAY).toISOString();
// The value of the slider, in days from now.
const days = () => (shown() - now()) / DAY;
const go = day => set({ day });

function label() {
  const day = get('day'), near = Math.abs(days()) < 0.01;
  $('shown').textContent = day && !near ? `${stamp(day)}, ${relative(shown(), now())}` : `now, ${stamp(now())}`;
  $('slider').setAttribute('aria-valuetext', $('shown').textContent);
}
export function showDay() {
  label();
  if (document.activeElement !== $('slider')) $('slider').value = days();
  if (document.activeElement !== $('date')) $('date').value = new Date(shown()).toISOString().slice(0, 10);
}

// Says why the memories of that day are not shown, or nothing. A screen reader reads each change aloud.
let refused = '';
export function showRefusal(problem) {
  if (problem === refused) return;
  refused = problem;
  $('refused').hidden = !problem;
  $('refused').replaceChildren(...prose(problem ? `This day cannot be shown. ${problem}` : ''));
}

export function wireDay() {
  let timer = null;
  $('slider').oninput = () => {
    const value = Number($('slider').value);
    $('shown').textContent = value ? stamp(instant(value)) : 'now';
    clearTimeout(timer);
    timer = setTimeout(() => go(value ? instant(value) : ''), 150);
  };
  const step = by => () => {
    const value = days() + by;
    go(Math.abs(value) < 0.01 ? '' : instant(value));
  };
  $('earlier').onclick = step(-1);
  $('later').onclick = step(1);
  $('now').onclick = () => go('');
  $('date').onchange = () => {
    const day = `${$('date').value}T12:00:00.000Z`;
    if (Date.parse(day)) go(day);
  };
  onChange(changed => { if (changed.includes('day')) showDay(); });
}
