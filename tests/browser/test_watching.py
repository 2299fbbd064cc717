"""The watch is trusted because each kind of fault has been seen to fail a test."""

import pytest

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><html lang="en" data-ready="plan"><meta charset="utf-8">
<title>x</title><link rel="icon" href="data:,">{head}<p>x</p><script>{script}</script></html>
"""
STRICT = '<meta http-equiv="Content-Security-Policy" content="img-src data:">'
LOCKED = (
    '<meta http-equiv="Content-Security-Policy" content="'
    "default-src 'none'; script-src 'sha256-X+zrZv/IbzjZUnhsbWlsecLbwjndTpG0ZynXOif7V+k='; "
    "require-trusted-types-for 'script'; trusted-types 'none'\">"
)


@pytest.mark.parametrize(
    ("head", "script", "said"),
    [
        ("", "console.error('no')", "console: error: no"),
        ("", "console.warn('hm')", "console: warning: hm"),
        ("", "setTimeout(() => { throw new Error('late') })", "error: late"),
        ("", "Promise.reject(new Error('lost'))", "error: lost"),
        ("", "fetch('https://evil.example/').catch(() => 0)", "asked for https://evil"),
        ("", "new Image().src = 'https://evil.example/x'", "asked for https://evil"),
        (STRICT, "new Image().src = 'https://evil.example/x'", "the policy was violated: img-src"),
        ("", "open('about:blank')", "opened about:blank"),
        ("", "setTimeout(() => alert('you'))", "dialog: you"),
        ("", "window.pwned = 1", "a script of a note has run"),
        ("", "setTimeout(() => { location = 'https://evil.example/' }, 50)", "went to "),
    ],
)
def test_a_page_that_does_what_it_should_not_is_found_out(watch, tmp_path, head, script, said):
    file = tmp_path / "page.html"
    file.write_text(PAGE.format(head=head, script=""), "utf-8")
    visit = watch.visit(hosts=[file.as_uri()])
    visit.open(file.as_uri())
    visit.page.evaluate(f"() => {{ {script} }}")
    for _ in range(20):
        visit.page.wait_for_timeout(100)
        if any(said in fault for fault in visit.faults):
            break
    with pytest.raises(AssertionError):
        visit.check()
    assert any(said in fault for fault in visit.faults), visit.faults
    watch.visits.clear()


def test_a_page_that_does_nothing_passes_under_a_strict_policy(watch, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(PAGE.format(head=LOCKED, script="0"), "utf-8")
    page = watch.open(file)
    assert page.evaluate("document.documentElement.dataset.ready") == "plan"
