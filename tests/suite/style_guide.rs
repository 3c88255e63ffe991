//! A page with every element of the stylesheet, so that tests can check all of them.

use askama::Template;
use askama_web::WebTemplate;
use axum::Router;
use axum::routing::get;
use buildoff::app::App;
use buildoff::web::Page;

pub fn routes() -> Router<App> {
    Router::new().route("/specimen", get(|| async { StyleGuidePage { page: Page::without_address() } }))
}

#[derive(Template, WebTemplate)]
#[template(
    ext = "html",
    source = r##"{% extends "layout.html" %}
{% block title %}Specimen{% endblock %}
{% block main %}
<h1>Specimen</h1>
<p class="lede">Every element the later pages are made of, once. <a href="/">A link in a lede</a>.</p>

<section><h2>Text</h2>
<p>A paragraph with <a href="/">a link</a>, <strong>strong</strong> and <em>stressed</em> words, <code>inline_code</code>,
<kbd>Ctrl</kbd>, <small>small print</small>, <span class="good">good</span>, <span class="warn">warned</span> and
<span class="bad">bad</span> ones. It is long enough to show how lines break at the measure, and what a second line
looks like under the first.</p>
<ul><li>First of two</li><li>Second of two</li></ul>
<ol><li>One</li><li>Two</li></ol>
<blockquote>Blocks are placed, never thrown.</blockquote>
<dl><dt>Model</dt><dd>A contestant, known by a key</dd><dt>Digest</dt><dd><code>sha256:9f2c4b7a0d1e8c3f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b</code></dd></dl>
<pre tabindex="0"><code>{ "boxes": [{ "x1": 0, "y1": 0, "z1": 0, "x2": 31, "y2": 0, "z2": 31, "type": "stone" }], "lines": [], "blocks": [] }</code></pre>
<hr>
<h3>A third heading</h3><p>With a line.</p><h4>A fourth heading</h4><p>With a line.</p>
</section>

<section><h2>Table</h2>
<div class="scroll" role="region" aria-label="Ladder" tabindex="0"><table>
<caption>Ladder of 32 · simple · precise</caption>
<thead><tr><th class="num" scope="col">Rank</th><th scope="col">Model</th><th class="num" scope="col">Elo</th><th class="num" scope="col">Skill</th><th class="num" scope="col">Votes</th><th class="num" scope="col">W / L / T</th><th class="num" scope="col">Both bad</th></tr></thead>
<tbody>
<tr><td class="num">1</td><th scope="row"><a href="/">Cobblestone 5</a></th><td class="num">1,642</td><td class="num">1,655 ± 24</td><td class="num">812</td><td class="num">512 / 220 / 80</td><td class="num">4 %</td></tr>
<tr><td class="num">2</td><th scope="row"><a href="/">Glowstone mini</a></th><td class="num">1,508</td><td class="num">1,500 ± 31</td><td class="num">640</td><td class="num">300 / 290 / 50</td><td class="num">9 %</td></tr>
</tbody></table></div>
<nav class="pages" aria-label="Pages of the ladder"><ul><li><a href="/">1</a></li><li><a href="/" aria-current="page">2</a></li><li><a href="/">3</a></li><li><span>…</span></li><li><a href="/">12</a></li></ul></nav>
</section>

<section><h2>Form</h2>
<form>
<div class="field"><label for="f1">Prompt</label><input id="f1" placeholder="a steam locomotive"><span class="hint">A few words.</span></div>
<div class="field"><label for="f2">Model</label><input id="f2" value="nobody" aria-invalid="true" aria-describedby="f2p"><span class="problem" id="f2p">There is no such model.</span></div>
<div class="field"><label for="f3">Palette</label><select id="f3"><option>simple</option><option>advanced</option></select></div>
<div class="field"><label for="f4">Spec</label><textarea id="f4">{ "boxes": [] }</textarea></div>
<fieldset class="field"><legend>Grid</legend><label><input type="radio" name="g" checked> 32</label><label><input type="radio" name="g"> 64</label><label><input type="checkbox" checked> Include retired builds</label></fieldset>
<p class="actions"><button class="primary">Vote for A</button><button>Tie</button><button class="quiet" type="button">Skip</button><button class="danger" type="button">Retire</button><button disabled>Not yet</button><a class="button" href="/">A link</a></p>
</form>
</section>

<section><h2>Notices</h2>
<p class="notice"><strong>Known.</strong> This ladder covers one settings triple.</p>
<p class="notice good"><strong>Valid.</strong> 1,241 blocks.</p>
<p class="notice warn"><strong>Dropped.</strong> 3 writes outside the grid.</p>
<p class="notice bad" role="alert"><strong>Too few blocks.</strong> 12 of at least 80.</p>
<div class="empty"><h3>No builds yet</h3><p>Seed a prompt, and its builds hang here.</p></div>
<details open><summary>How is skill computed?</summary><p>From all votes at once.</p></details>
<details><summary>And Elo?</summary><p>Vote by vote.</p></details>
<figure class="plinth"><img src="{{ page.asset("art/cottage.svg") }}" alt="A cottage." width="268" height="186"></figure>
<dialog id="dialog" aria-labelledby="dt"><h3 id="dt">Retire this build?</h3><p>Votes keep pointing at what was judged.</p>
<form method="dialog" class="actions"><button class="danger">Retire</button><button class="quiet">Keep it</button></form></dialog>
</section>
{% endblock %}"##
)]
struct StyleGuidePage {
    page: Page,
}
