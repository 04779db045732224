"""Parts of bad requests: numbers, texts, parts of a path, headers, bodies."""

from __future__ import annotations

# None of them is a time that a round may have and a test would have to wait for.
NUMBERS = [
    *(-1, 0, 1, 7, -(2**31), 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, -(2**63), 2**64),
    *(10**19, 10**30, 10**400, -(10**30)),
]
TEXTS = [
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\n",
        "a\r\nb",
        "é",
        "苹果",
        "\u202e",
        "\ud800",
        "٣",
        "%",
        "%s",
        "{0}",
    ),
    *("'", '"', "<b>", "../..", ".", "null", "http://[", "//x", "a" * 300, "k" * 5_000),
    *("9" * 5_000, "1e9", "0x10", "+1", "-0", "1_000", "lock:", ":", "lock:nothing", "..."),
    *("sql", "naive", "lock:lease", "naive...watch", "apple-0123456789", "comparison-0123456789"),
]
PARTS = [
    *(text.encode("utf-8", "surrogatepass") for text in TEXTS),
    *(str(number).encode() for number in NUMBERS if abs(number) < 10**40),
    *(b"\xff\xfe", b"\xed\xa0\x80", b"a/b", b"/", b"//", b"a\\b", b"a;b", b"a?b", b"#", b"..%2f"),
    *(b"apple-\0", b"apple-" + b"f" * 300, b"comparison-\0", b"comparison-" + b"\xff"),
    *(b"00000000-0000-0000-0000-000000000000", b"{00000000-0000-0000-0000-000000000000}"),
    *(b"urn:uuid:00000000-0000-0000-0000-000000000000", b"9" * 39, b"0" * 5_000, b"1" * 5_000),
]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW", "get"]
LONG = "x" * 8_000
ADDRESSES = [
    *(
        "http://[",
        "http://[::1",
        "http://[v1.x]",
        "http://",
        "//",
        "null",
        "",
        "http://127.0.0.1:x",
    ),
    *("http://127.0.0.1:99999999999", "http://" + "a" * 300, "javascript:alert(1)", "http://\xe9"),
    *("http://127.0.0.1:8000/%ff%00?%", "http://127.0.0.1:8000/a?" + "b" * 3_000, "http://a@b@c/"),
    *("http://127.0.0.1:8000//evil.example/?language=zh&x=%00", "http://127.0.0.1:8000"),
    "http://\u00b9/",  # NFKC makes a digit of it
    "http://a\u00bcb/",
]
ACCEPTED = [
    *(
        "application/json",
        "text/html",
        "",
        "*/*",
        "text/html;q=x",
        ";;;,,,",
        "a/b/c",
        "text/html;q=",
    ),
    *("text/html;q=1e999", "*/json", "/", "\xff", "text/html;level=1;q=0", ",".join(["a/b"] * 900)),
]
HEADERS: dict[str, list[str]] = {
    "Accept": ACCEPTED,
    "Host": [
        *(
            "a" * 300,
            "a." * 150,
            "[",
            "[::1",
            "[::1]:x",
            "evil.example",
            ":",
            ":8000",
            "..",
            "-",
            "",
        ),
        *(
            "127.0.0.1:99999",
            "127.0.0.1:0",
            "127.0.0.1:8000, evil",
            "a b",
            "\xe9",
            "xn--\xff",
            "a/b",
        ),
        *("127.0.0.1:" + "9" * 5_000, "a" * 64, "xn--a", "127.0.0.1@evil", "localhost", LONG),
    ],
    "Origin": ADDRESSES,
    "Referer": ADDRESSES,
    "Cookie": [
        *(
            "buyer",
            "buyer=",
            "buyer=x",
            "buyer=.e30.Z.x",
            "buyer=e30.aaaaaa.x",
            "=",
            ";;;",
            "a=\xff",
        ),
        *(
            "language=",
            "language=\xff",
            "language=zh",
            "language=xx; language=zh",
            "lab=\xe9",
            "lab=",
        ),
        *('buyer="\\377\\', "buyer=" + "e" * 4_000, "; ".join(f"c{n}=1" for n in range(500))),
        "buyer=eyJidXllciI6MX0.aaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "buyer=.eJwDAAAAAAE.aaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ],
    "Accept-Language": [
        "zh",
        "zh-",
        "-",
        ";q=",
        "zh;q=nan",
        "\xff",
        "*;q=1",
        ",".join("z" * 2_000),
    ],
    "Accept-Encoding": ["gzip;q=x", "gzip;q=nan", ";", "\xff", "gzip", "*"],
    "Content-Type": [
        *(
            "",
            "/",
            "application/json",
            "application/json; charset=x",
            "APPLICATION/JSON;;;",
            "text/x",
        ),
        *(
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/form-data; boundary=a",
        ),
        *(
            "application/x-www-form-urlencoded; charset=\xff",
            "\xff",
            "multipart/form-data; " + LONG,
        ),
        'multipart/form-data; boundary="' + "b" * 300 + '"',
    ],
    "Content-Length": [
        "",
        "x",
        "-1",
        "0",
        "5",
        "16384",
        "16385",
        "9" * 30,
        "1e3",
        "\xb2",
        "+5",
        "1, 1",
    ],
    "Transfer-Encoding": ["chunked", "gzip, chunked", "x", ""],
    "Idempotency-Key": ["", " ", "\xff", "a\0b", "k" * 128, "k" * 129, LONG, '"a"', "\x7f"],
    "Last-Event-ID": [
        *(
            "0",
            "0-0",
            "-",
            "1-",
            "18446744073709551615-18446744073709551615",
            "\xb2-1",
            "(1-1",
            "+",
        ),
        *("99999999999999999999-0", "9" * 20 + "-" + "9" * 20, "1-1\0", "f" * 16 + "." + "0" * 16),
        *("18446744073709551616-0", "9223372036854775807-9223372036854775807", ".", "x.y", LONG),
    ],
    "X-Forwarded-For": ["\xff", "", LONG, "127.0.0.1"],
    "X-Forwarded-Host": ["evil.example", "[", "", LONG],
    "X-Forwarded-Proto": ["https", "x", ""],
    "X-Forwarded-Prefix": ["//", "/x", LONG],
    "Script-Name": ["/x", "//", "x", LONG],
    "Forwarded": ["for=;;;", "host=[", LONG],
    "Authorization": ["Basic", "Basic x", "Basic /w==", "Bearer", "\xff", "Digest x=", LONG],
    "Range": ["bytes=", "bytes=9-1", "bytes=-0", "bytes=0-" + "9" * 30, "x", "bytes=0-0,5-6"],
    "If-Range": ["x", "\xff", "Thu, 01 Jan 99999 00:00:00 GMT"],
    "If-Modified-Since": [
        "x",
        "",
        "Thu, 01 Jan 99999 00:00:00 GMT",
        "Thu, 01 Jan 0000 00:00:00 +9999",
    ],
    "If-None-Match": ["*", '"', 'W/"', "\xff", LONG],
    "Expect": ["100-continue", "x"],
    "Upgrade": ["websocket", "h2c"],
    "Connection": ["Upgrade", "close", "x", ""],
    "User-Agent": ["", "\xff", LONG],
}
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
PARTED = "multipart/form-data; boundary=a"
NAMES = (b"quantity", b"stock", b"key", b"name", b"mode", b"hide", b"item")
VALUES = [
    *(b"NaN", b"1e400", b"9" * 40, b"1" * 5_000, b"-0", b"18446744073709551616"),
    *(b'"\\ud800"', b'"\\u0000"', b"[" * 900 + b"]" * 900, b'"' + b"a" * 15_000 + b'"'),
]
JSONS = [
    *(b"", b"{", b"null", b"[]", b"1", b'"x"', b"NaN", b"\xff\xfe", b"\0", b'{"a":1}}'),
    *(b"[" * 10_000, b'{"a":' * 2_000, b"{}" + b" " * 17_000, "{}".encode("utf-16")),
    *(b'{"%s": %s}' % (name, value) for name in NAMES for value in VALUES),
    b'{"quantity": 1, "quantity": "x"}',
]
FORMS = [
    *(b"", b"%", b"=", b"&&&", b"quantity=%ff", b"quantity=%00", b"\xff=\xff", b"key=%0d%0a"),
    *(b"a=1&" * 3_000, b"quantity=" + b"9" * 5_000, b"name=" + b"a" * 17_000),
    *(b"name=%ed%a0%80", b"modes=" + b"&modes=" * 2_000),
]
PART = b"--a\r\nContent-Disposition: "
PARTEDS = [
    *(b"--a\r\n", PART, PART + b"form-data\r\n\r\nx\r\n--a--"),
    PART + b'form-data; name="key"\r\n\r\nx\r\n--a--',
    PART + b'x; name="\xff"\r\n\r\n\xff\r\n--a--',
    (PART + b'form-data; name="a"\r\n\r\n\r\n') * 300,
]
BODIES: list[tuple[str, bytes]] = [
    *((JSON, body) for body in JSONS),
    *((FORM, body) for body in FORMS * 3),
    *((PARTED, body) for body in PARTEDS * 3),
    *(("multipart/form-data", b"--a\r\n"), ("text/plain", b"x"), ("", b"{}")),
]
