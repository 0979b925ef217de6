/** The style of the documentation page, for light and dark. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #15803d; --bad: #b91c1c; --warm: #b45309; --cool: #1d4ed8; }
@media (prefers-color-scheme: dark) { :root { --good: #86efac; --bad: #fca5a5; --warm: #fcd34d; --cool: #93c5fd; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
code, pre, textarea, .path { font-family: ui-monospace, monospace; font-size: 13px; }
h1 small { font-weight: 400; opacity: .6; } h3 { margin: 1.6rem 0 0; } h4 { margin: .8rem 0 .3rem; }
a { color: var(--cool); }
details { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; overflow-wrap: anywhere; }
.body { padding: 0 .8rem .8rem; overflow-x: auto; scroll-margin-top: 3rem; }
.method { display: inline-block; min-width: 3.2rem; font-weight: 700; font-size: 12px; }
.get { color: var(--cool); } .post { color: var(--good); } .put { color: var(--warm); }
.note { opacity: .8; margin-left: .6rem; }
table { border-collapse: collapse; width: 100%; }
td { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: .3rem .5rem .3rem 0; }
pre { background: var(--soft); padding: .6rem; border-radius: 6px; overflow: auto; max-height: 30rem; margin: .4rem 0; }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: .8rem 0 0; min-width: 0; }
label { display: block; margin: .4rem 0; }
input, select, textarea { display: block; box-sizing: border-box; width: 100%; font-size: 13px; padding: .3rem .4rem; }
textarea { resize: vertical; }
button { font: inherit; padding: .3rem 1.2rem; }
.good { color: var(--good); font-weight: 700; } .bad { color: var(--bad); font-weight: 700; }
@media (max-width: 40rem) { td { display: block; padding: 0; } td:not(:first-child) { border: 0; } tr { display: block; padding: .2rem 0; } }
#access { margin: 1rem 0; padding: .4rem .8rem; background: var(--soft); border-radius: 6px; }
`;
