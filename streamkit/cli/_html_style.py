"""The style sheet of the HTML report."""

from __future__ import annotations


__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f7f9; --ink: #1b1f24; --faint: #57606a; --line: #d0d7de;
  --link: #0950b3; --bar: #2f6fd0; --mark: #9a3b00; --gap: #8250df; --bad: #b3261e;
  --good: #176f2c; --p4: #d9f2de; --p3: #eef6d5; --p2: #fff0bd; --p1: #ffd9b8; --p0: #ffc4bf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1216; --card: #181d23; --ink: #e4e8ec; --faint: #a0a9b3; --line: #39424c;
    --link: #86b7ff; --bar: #6ea8fe; --mark: #ffb077; --gap: #c4a1ff; --bad: #ff9a92;
    --good: #7fd896; --p4: #123d22; --p3: #31400f; --p2: #4f4200; --p1: #5c3410; --p0: #6b1f1b;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--page);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; overflow-wrap: anywhere; margin-top: 0; }
h3 { font-size: 1.05rem; margin-bottom: .3rem; overflow-wrap: anywhere; }
h4 { font-size: .95rem; margin: .8rem 0 .3rem; color: var(--faint); }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--page); padding: .5rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: 1rem; margin: 1rem 0; overflow-wrap: break-word; }
.facts { display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; margin: .5rem 0; }
.facts div { min-width: 0; }
dt { font-size: .8rem; color: var(--faint); overflow-wrap: anywhere; }
dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--page); border: 1px solid var(--line); border-radius: .3rem;
  padding: .6rem; margin: .3rem 0; white-space: pre-wrap; overflow-wrap: anywhere;
  font: .9rem/1.5 ui-monospace, monospace; }
.note { color: var(--faint); font-size: .9rem; margin: .3rem 0; }
.complete { color: var(--good); font-weight: 600; }
.cut, .error, .empty { color: var(--bad); font-weight: 600; }
.wide { overflow: auto; max-height: 32rem; border: 1px solid var(--line); border-radius: .3rem;
  background: var(--page); margin: .4rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
caption { text-align: left; color: var(--faint); padding: .3rem .5rem; }
th, td { text-align: left; vertical-align: top; padding: .2rem .5rem;
  border-top: 1px solid var(--line); }
thead th { position: sticky; top: 0; background: var(--card); }
td { white-space: nowrap; }
th.n, td.n { text-align: right; width: 1%; font-variant-numeric: tabular-nums; }
td.x, td.i { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 12rem; }
td.x span { border-radius: .15rem; }
.whole { display: inline-block; max-width: 100%; }
td.x { font-family: ui-monospace, monospace; }
tr.bad td { color: var(--bad); }
tr:target td { outline: 2px solid var(--link); outline-offset: -2px; }
details { margin: .5rem 0; }
summary { cursor: pointer; font-weight: 600; }
.heat span, .heat a { color: inherit; border-radius: .15rem; }
.heat a { text-decoration: underline dotted; }
.p4 { background: var(--p4); } .p3 { background: var(--p3); } .p2 { background: var(--p2); }
.p1 { background: var(--p1); } .p0 { background: var(--p0); }
.pu { outline: 1px dashed var(--faint); }
.legend { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; margin: .4rem 0;
  list-style: none; font-size: .85rem; }
.legend li { padding: 0 .5rem; border: 1px solid var(--line); border-radius: .3rem; }
.chart { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 36rem; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .axis { stroke: var(--line); } svg .chunk { fill: var(--bar); } svg .gap { fill: var(--gap); }
svg .first { stroke: var(--mark); stroke-width: 2; } svg .label { fill: var(--mark); }
@media (forced-colors: active) {
  svg .chunk, svg .gap { fill: CanvasText; } svg text, svg .label { fill: CanvasText; }
  svg .axis, svg .first { stroke: CanvasText; }
}
@media print {
  .wide { max-height: none; overflow: visible; }
  section { break-inside: auto; }
}
"""
