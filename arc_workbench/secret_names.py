"""What is taken for a secret: variables by their names, texts by the shape of a kind of key."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# ---- names --------------------------------------------------------------------------------------

_WORDS = frozenset(
    {
        *("KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "BEARER", "JWT", "PAT", "DSN"),
        *("PASS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE"),
        *("CREDENTIAL", "CREDENTIALS", "CREDS", "AUTHORIZATION", "COOKIE", "COOKIES"),
    }
)
_ENDINGS = (  # words that are also glued to another: PGPASSWORD, apikey
    *("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS"),
    *("APIKEY", "AUTHKEY", "ACCESSKEY", "PRIVATEKEY", "SECRETKEY", "PASS"),
    *("MASTERKEY", "SIGNINGKEY", "ENCRYPTIONKEY", "DEPLOYKEY", "SSHKEY", "SIGNKEY", "CRYPTKEY"),
)
_NO_PASSWORDS = ("ASKPASS", "BYPASS", "COMPASS", "OVERPASS", "SURPASS", "TRESPASS", "UNDERPASS")
_LAST_WORDS = frozenset({"AUTH", "PWD"})  # DOCKER_AUTH, MYSQL_PWD; not SSH_AUTH_SOCK or PWD
_FORMS = frozenset({"CONFIG", "JSON", "DATA", "VALUE", "STRING", "BASE64", "B64"})
_PLACES = frozenset({"PATH", "FILE", "DIR", "SOCK"})  # it says where the secret lies
_PLACE = re.compile(  # a path, the name of a file, or what stands before a colon in a path
    r"[\w.~-]*[/\\][\w.@%+, ()/\\-]*|[\w-]*\.[A-Za-z]{1,5}|file|unix|[A-Za-z]?"
)
_SPLIT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")


def looks_secret(name: str, value: str = "") -> bool:
    """Whether a variable called `name` is taken to hold a secret: `GITHUB_TOKEN`, `apiKey`.

    One that should say where a secret lies, `TOKEN_PATH`, holds one when `value` is no place.
    """
    words = [word.upper() for word in _SPLIT.split(name) if word]
    if not words or (words[-1] in _PLACES and _is_place(value)):
        return False
    plain = words[:-1] if words[-1] in _FORMS else words
    if len(plain) > 1 and plain[-1] in _LAST_WORDS:
        return True
    return any(
        word in _WORDS or (word.endswith(_ENDINGS) and not word.endswith(_NO_PASSWORDS))
        for word in words
    )


def _is_place(value: str) -> bool:
    return all(map(_PLACE.fullmatch, re.split("[:;]", value)))


def holds_secret(value: str) -> bool:
    """Whether something in `value` has the shape of a key, or is a password in a URL."""
    return any(True for _ in shape_finds(value, 0))


# ---- shapes -------------------------------------------------------------------------------------

LONGEST_SHAPE = 12 * 1024  # no pattern below matches more than this, but for the PEM block
_LONGEST_PEM = 32 * 1024
_LONGEST_PEM_LABEL = 100


@dataclass(frozen=True)
class Find:
    """What is secret in a text, and where the match that found it begins."""

    at: int
    start: int
    end: int
    label: str

    @property
    def placeholder(self) -> str:
        """What stands in its place."""
        return f"[secret: {self.label}]"


_Match = Callable[[str, int], tuple[int, int] | None]


@dataclass(frozen=True)
class Shape:
    """A kind of key: words that every text with one holds, and what it looks like from there."""

    label: str
    words: tuple[str, ...]
    match: _Match


def shape_finds(text: str, start: int) -> Iterator[Find]:
    """What looks like a key, from `start` on, in order, none in another."""
    found = sorted(
        (at, rank)
        for rank, shape in enumerate(SHAPES)
        for word in shape.words
        for at in places(text, word, start)
    )
    end = start
    for at, rank in found:
        if at >= end and (span := SHAPES[rank].match(text, at)):
            end = span[1]
            yield Find(at, *span, SHAPES[rank].label)


def shape_begun(text: str) -> int:
    """Where the first word stands that a key may have; the text's length if nowhere."""
    found = (text.find(word) for shape in SHAPES for word in shape.words)
    return min((at for at in found if at >= 0), default=len(text))


def places(text: str, part: str, start: int) -> Iterator[int]:
    """Where `part` occurs in `text`, from `start` on."""
    at = text.find(part, start)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


_PEM = "-----BEGIN "
_PEM_PRIVATE = re.compile(r"-----BEGIN ((?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----)")
_PEM_LINES = re.compile(
    r"(?:(?:\s|\\n|\\r){1,4}(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{1,100}))"
    r"{0,4}(?:(?:\s|\\n|\\r){1,4}[A-Za-z0-9+/=]{16,100}){0,300}"
    r"(?:(?:\s|\\n|\\r){1,4}[A-Za-z0-9+/=]{1,15}\s{0,4}\Z)?"
)


def pem_begun(text: str) -> int:
    """Where a key block begins that is not complete yet; the text's length if nowhere."""
    for at in places(text, _PEM, 0):
        label_end = text.find("-----", at + len(_PEM), at + _LONGEST_PEM_LABEL)
        if label_end < 0:
            if len(text) - at < _LONGEST_PEM_LABEL:
                return at
        elif (
            len(text) - at < _LONGEST_PEM + _LONGEST_PEM_LABEL
            and (begin := _PEM_PRIVATE.match(text, at))
            and _pem_end(text, begin) is None
        ):
            return at
    return len(text)


def _pem_end(text: str, begin: re.Match[str]) -> int | None:
    """Where the key block ends, by a last line with the label of its first."""
    last = f"-----END {begin[1]}"
    at = text.find(last, begin.end(), begin.start() + _LONGEST_PEM)
    return None if at < 0 else at + len(last)


def _pem(text: str, at: int) -> tuple[int, int] | None:
    """A private key from its first line to its last, or as far as it goes without one."""
    begin = _PEM_PRIVATE.match(text, at)
    if not begin:
        return None
    end = _pem_end(text, begin)
    if end is None:
        lines = _PEM_LINES.match(text, begin.end())
        end = lines.end() if lines else begin.end()
    return at, end


def _shaped(label: str, words: str, pattern: str) -> Shape:
    """A shape by a pattern that begins with one of `words`; its group, if any, is the secret."""
    boundary = "" if words == "://" else "(?<![A-Za-z0-9])"
    compiled = re.compile(boundary + pattern, re.ASCII)

    def match(text: str, at: int) -> tuple[int, int] | None:
        found = compiled.match(text, at)
        return found.span(found.re.groups) if found else None

    return Shape(label, tuple(words.split("|")), match)


# Where a tool has cut a text: the end of all, or a mark for what is left out.
_CUT = r"(?=\Z|…|\.\.\.| ?\[(?:…|line |cut ))"
_TOKEN = "[A-Za-z0-9._~+/=-]"
SHAPES = (
    Shape("private key", (_PEM,), _pem),
    _shaped("anthropic key", "sk-ant-", r"sk-ant-[\w-]{16,400}"),
    _shaped(
        "openai key",
        "sk-proj-|sk-svcacct-|sk-admin-|sk-or-",
        r"sk-(?:proj|svcacct|admin|or)-[\w-]{20,400}",
    ),
    _shaped("api key", "sk-", r"sk-[A-Za-z0-9]{32,128}(?![\w-])"),
    _shaped("github token", "ghp_|gho_|ghu_|ghs_|ghr_", r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    _shaped("github token", "github_pat_", r"github_pat_\w{22,255}"),
    _shaped(
        "gitlab token",
        "glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|glagent-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[\w-]{20,255}(?:\.[\w-]{2,20}){0,2}",
    ),
    _shaped("aws key id", "AKIA|ASIA", r"(?<![+/])A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9+/=])"),
    _shaped(
        "aws secret key",
        "aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey",
        r"""[\w]{15,21}["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])""",
    ),
    _shaped("google key", "AIza", r"(?<![+/_-])AIza[\w-]{35}(?![\w-])"),
    _shaped("google token", "ya29.", r"ya29\.[\w-]{30,2048}"),
    _shaped("google secret", "GOCSPX-", r"GOCSPX-[\w-]{28}(?![\w-])"),
    _shaped(
        "slack token",
        "xoxa-|xoxb-|xoxe-|xoxe.|xoxo-|xoxp-|xoxr-|xoxs-",
        r"xox[abeoprs][.-](?:xox[bp]-)?[A-Za-z0-9-]{10,255}",
    ),
    _shaped("slack token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{10,255}"),
    _shaped("slack hook", "hooks.slack.com/", r"hooks\.slack\.com/[a-z]{8,9}/([\w/]{20,100})"),
    _shaped("hugging face token", "hf_", r"hf_[A-Za-z0-9]{30,64}(?!\w)"),
    _shaped("npm token", "npm_", r"npm_[A-Za-z0-9]{36}(?!\w)"),
    _shaped("pypi token", "pypi-", r"pypi-[\w-]{50,1024}"),
    _shaped(
        "stripe key",
        "sk_live_|sk_test_|rk_live_|rk_test_|whsec_",
        r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,255}",
    ),
    _shaped("sendgrid key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}(?![\w-])"),
    _shaped("digitalocean token", "dop_v1_|doo_v1_|dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _shaped(
        "api key",
        "gsk_|xai-|pplx-|dckr_pat_|lin_api_|shpat_|glsa_|nvapi-|hvs.|AGE-SECRET-KEY-1",
        r"(?:(?:gsk_|xai-|pplx-|lin_api_|shpat_|AGE-SECRET-KEY-1)[A-Za-z0-9]|"
        r"(?:dckr_pat_|glsa_|nvapi-|hvs\.)[\w-])[\w-]{23,255}",
    ),
    _shaped(
        "web token", "eyJ", r"(?<![_-])eyJ[\w-]{10,1024}\.eyJ[\w-]{10,8192}(?:\.[\w-]{0,2048})?"
    ),
    _shaped(
        "authorization",
        "Authorization|authorization|AUTHORIZATION",
        r"""(?i:authorization)["']?[:=][ \t]{0,4}["']?(?i:basic|bearer|token|apikey)[ \t]{1,4}"""
        rf"({_TOKEN}{{8,4096}})",
    ),
    _shaped(
        "api key",
        "x-api-key|X-Api-Key|X-API-Key|X-API-KEY",
        rf"""(?i:x-api-key)["']?[:=][ \t]{{0,4}}["']?({_TOKEN}{{16,512}})""",
    ),
    _shaped(
        "bearer token",
        "Bearer |bearer |BEARER ",
        rf"(?i:bearer) {{1,4}}((?=[A-Za-z._~+/=-]{{0,64}}[0-9]){_TOKEN}{{20,4096}})",
    ),
    _shaped(
        "authorization",
        "Basic |basic ",
        r"[Bb]asic {1,4}((?=[A-Za-z+/]{0,64}[0-9])(?=[a-z0-9+/]{0,64}[A-Z])"
        r"(?=[A-Z0-9+/]{0,64}[a-z])[A-Za-z0-9+/]{16,1024}={0,2}(?![\w-]))",
    ),
    _shaped(
        "url password",
        "://",
        r"""://[^\s/:@"'<>]{0,255}:((?![$<{*%\[])[^\s/@"'<>]{1,255})@""",
    ),
    _shaped(
        "cut key",
        "sk-ant-|sk-proj-|sk-svcacct-|sk-admin-|sk-or-|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|"
        "AKIA|ASIA|AIza|GOCSPX-|xoxb-|xoxp-|xapp-|hf_|npm_|pypi-|sk_live_|rk_live_|whsec_|gsk_",
        r"(?>[A-Za-z]{2,6}[_-]?(?:[a-z]{2,8}[_-])?(?:[a-z]{2,8}[0-9]{2}-)?)"
        r"(?=[\w-]{0,64}[0-9]|[\w-]{0,64}[a-z][A-Z])[\w-]{6,1024}" + _CUT,
    ),
    _shaped(
        "cut url password",
        "://",
        r"""://[^\s/:@"'<>…]{1,255}:((?![0-9]{1,5}(?!\w))(?![$<{*%\[])[^\s/@"'<>…]{6,255})"""
        + _CUT,
    ),
)
