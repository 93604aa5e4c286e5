import Testing

/// Requests as bytes, and the expected results.
package struct RawRequest: Sendable, CustomTestStringConvertible {
    package let name: String
    package let bytes: [UInt8]
    /// The expected statuses of the answers, in order.
    package let statuses: [Int]
    /// The targets that may reach the handler. Without a proxy, all of them must.
    package let seen: [String]
    /// The bodies of these targets. All other bodies are empty.
    package let bodies: [String]

    package var testDescription: String { name }
    /// Whether the connection is still usable.
    package var isFine: Bool { statuses.allSatisfy { $0 < 300 } }

    init(
        _ name: String, _ text: String, _ statuses: Int..., seen: [String]? = nil,
        bodies: String...
    ) {
        self.init(name, Array(text.utf8), statuses, seen, bodies)
    }

    init(_ name: String, bytes: [UInt8], _ statuses: Int...) {
        self.init(name, bytes, statuses, nil, [])
    }

    private init(
        _ name: String, _ bytes: [UInt8], _ statuses: [Int], _ seen: [String]?, _ bodies: [String]
    ) {
        self.name = name
        self.bytes = bytes
        self.statuses = statuses
        self.seen = seen ?? statuses.filter { $0 == 200 }.map { _ in "/a" }
        self.bodies = bodies
    }

    package static let all =
        fine + lines + fields + hosts + lengths + codings + chunks + smuggled + long

    /// A request that must never reach the handler. Another request hides it.
    private static let hidden = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n"

    package static func get(_ fields: String, target: String = "/a") -> String {
        "GET \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
    }

    package static func post(_ fields: String, _ body: String = "") -> String {
        "POST /a HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\(body)"
    }

    private static func chunked(_ body: String) -> String {
        post("Transfer-Encoding: chunked\r\n", body)
    }

    private static let fine = [
        RawRequest("plain", get(""), 200),
        RawRequest("a blank line before it", "\r\n" + get(""), 200),
        RawRequest("HTTP/1.0 without Host", "GET /a HTTP/1.0\r\n\r\n", 200),
        RawRequest("two at once", get("") + get(""), 200, 200),
        RawRequest("no blank after a colon", get("X-A:b\r\n"), 200),
        RawRequest("blanks around a value", get("X-A: \t b \t\r\n"), 200),
        RawRequest("an empty value", get("X-A:\r\n"), 200),
        RawRequest("bytes beyond ASCII in a value", get("X-A: \u{e9}\r\n"), 200),
        RawRequest("a body", post("Content-Length: 5\r\n", "abcde"), 200, bodies: "abcde"),
        RawRequest(
            "a body, and another request", post("Content-Length: 1\r\n", "a") + get(""), 200, 200,
            bodies: "a"),
        RawRequest(
            "leading zeros of a length", post("Content-Length: 005\r\n", "abcde"), 200,
            bodies: "abcde"),
        RawRequest(
            "blanks before a length", post("Content-Length: \t 5\r\n", "abcde"), 200,
            bodies: "abcde"),
        RawRequest(
            "chunks", chunked("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n") + get(""), 200, 200,
            bodies: "abcde"),
        RawRequest(
            "blanks before a coding",
            post("Transfer-Encoding: \t chunked\r\n", "3\r\nabc\r\n0\r\n\r\n") + get(""), 200, 200,
            bodies: "abc"),
        RawRequest(
            "chunks in capitals",
            post("TRANSFER-ENCODING: Chunked\r\n", "A\r\n0123456789\r\n0\r\n\r\n"), 200,
            bodies: "0123456789"),
        RawRequest(
            "an extension of a chunk", chunked("3;a=b\r\nabc\r\n0;c\r\n\r\n"), 200, bodies: "abc"),
        RawRequest(
            "a proxy's mark by a client",
            get("X-Forwarded-For: 192.0.2.9\r\nForwarded: for=192.0.2.9\r\n"), 200),
        RawRequest("a port of the host", "GET /a HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200),
    ]

    private static let lines = [
        RawRequest("no version", "GET /a\r\nHost: h\r\n\r\n", 400),
        RawRequest("no target", "GET HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("two blanks before the target", "GET  /a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("two blanks before the version", "GET /a  HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("a blank after the version", "GET /a HTTP/1.1 \r\nHost: h\r\n\r\n", 400),
        RawRequest("a blank in the target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("a tab between the parts", "GET\t/a\tHTTP/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("a blank before the method", " GET /a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("three blank lines before it", "\r\n\r\n\r\n" + get(""), 400),
        RawRequest("a colon in the method", "GE:T /a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("a fragment", get("", target: "/a#b"), 400),
        RawRequest("a target of another form", get("", target: "http://h/a"), 400),
        RawRequest("a target that is no path", get("", target: "a"), 400),
        RawRequest("NUL in the target", get("", target: "/a\u{0}b"), 400),
        RawRequest("NUL in the method", "G\u{0}T /a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("a line that ends with LF", "GET /a HTTP/1.1\nHost: h\r\n\r\n", 400),
        RawRequest("a line that ends with CR", "GET /a HTTP/1.1\rHost: h\r\n\r\n", 400),
        RawRequest("a version in small letters", "GET /a http/1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("a version of three parts", "GET /a HTTP/1.1.1\r\nHost: h\r\n\r\n", 400),
        RawRequest("HTTP/0.9", "GET /a HTTP/0.9\r\nHost: h\r\n\r\n", 505),
        RawRequest("HTTP/1.2", "GET /a HTTP/1.2\r\nHost: h\r\n\r\n", 505),
        RawRequest("HTTP/2.1", "GET /a HTTP/2.1\r\nHost: h\r\n\r\n", 505),
        RawRequest("HTTP/3.0", "GET /a HTTP/3.0\r\nHost: h\r\n\r\n", 505),
        RawRequest("HTTP/3.1", "GET /a HTTP/3.1\r\nHost: h\r\n\r\n", 505),
        RawRequest("HTTP/9.9", "GET /a HTTP/9.9\r\nHost: h\r\n\r\n", 505),
        RawRequest("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        RawRequest("a greeting of TLS", bytes: [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3], 400),
        RawRequest(
            "a method of 40 letters",
            String(repeating: "A", count: 40) + " /a HTTP/1.1\r\nHost: h\r\n\r\n", 501),
    ]

    private static let fields = [
        RawRequest("a blank before a colon", get("X-A : b\r\n"), 400),
        RawRequest("a tab before a colon", get("X-A\t: b\r\n"), 400),
        RawRequest("a folded line", get("X-A: b\r\n c\r\n"), 400),
        RawRequest("a folded line after a tab", get("X-A: b\r\n\tc\r\n"), 400),
        RawRequest(
            "a first line that is folded", "GET /a HTTP/1.1\r\n X: y\r\nHost: h\r\n\r\n", 400),
        RawRequest("no colon", get("X-A\r\n"), 400),
        RawRequest("no name", get(": b\r\n"), 400),
        RawRequest("NUL in a name", get("X\u{0}A: b\r\n"), 400),
        RawRequest("NUL in a value", get("X-A: b\u{0}c\r\n"), 400),
        RawRequest("CR in a value", get("X-A: b\rX-B: c\r\n"), 400),
        RawRequest("two CR", get("X-A: b\r\r\n"), 400),
        RawRequest("LF alone", get("X-A: b\nX-B: c\r\n"), 400),
        RawRequest("an end of LF alone", "GET /a HTTP/1.1\r\nHost: h\r\n\n", 400),
        RawRequest("DEL in a value", get("X-A: \u{7f}\r\n"), 400),
        RawRequest("an escape in a value", get("X-A: \u{1b}[0m\r\n"), 400),
        RawRequest("a name of other letters", get("X-\u{e9}: b\r\n"), 400),
        RawRequest("a name in brackets", get("X(A): b\r\n"), 400),
    ]

    private static let hosts = [
        RawRequest("no Host", "GET /a HTTP/1.1\r\n\r\n", 400),
        RawRequest("two of Host", get("Host: i\r\n"), 400),
        RawRequest("Host twice the same", get("host: h\r\n"), 400),
        RawRequest("a list as Host", "GET /a HTTP/1.1\r\nHost: h, i\r\n\r\n", 400),
        RawRequest("a user in Host", "GET /a HTTP/1.1\r\nHost: u@h\r\n\r\n", 400),
        RawRequest("a path in Host", "GET /a HTTP/1.1\r\nHost: h/b\r\n\r\n", 400),
    ]

    private static let lengths = [
        RawRequest(
            "two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n", "abcdef"), 400),
        RawRequest(
            "a length twice the same", post("Content-Length: 1\r\nContent-Length: 1\r\n", "a"), 400),
        RawRequest("a list of lengths", post("Content-Length: 1, 1\r\n", "a"), 400),
        RawRequest("a length with a sign", post("Content-Length: +1\r\n", "a"), 400),
        RawRequest("a length below zero", post("Content-Length: -1\r\n", "a"), 400),
        RawRequest("a length in hexadecimal", post("Content-Length: 0x1\r\n", "a"), 400),
        RawRequest("a length with a point", post("Content-Length: 1.0\r\n", "a"), 400),
        RawRequest("an empty length", post("Content-Length:\r\n", ""), 400),
        RawRequest("a length with a blank inside", post("Content-Length: 1 0\r\n", "a"), 400),
        RawRequest("a blank behind a length", post("Content-Length: 5 \r\n", "abcde"), 400),
        RawRequest("a tab behind a length", post("Content-Length: 5\t\r\n", "abcde"), 400),
        RawRequest("a blank behind a length of nothing", get("Content-Length: 0 \r\n"), 400),
        RawRequest("a length of 19 digits", post("Content-Length: 1000000000000000000\r\n"), 413),
        RawRequest(
            "a length beyond 64 bits", post("Content-Length: 99999999999999999999999\r\n"), 413),
    ]

    private static let codings = [
        RawRequest(
            "a length and chunks",
            post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nX"), 400),
        RawRequest(
            "chunks and a length",
            post("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", "0\r\n\r\nX"), 400),
        RawRequest(
            "two codings in two lines",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"), 400),
        RawRequest(
            "two codings in one", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501),
        RawRequest(
            "chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), 501),
        RawRequest("another coding", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501),
        RawRequest("identity", post("Transfer-Encoding: identity\r\n"), 501),
        RawRequest(
            "a coding in quotes", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 501),
        RawRequest(
            "a blank behind a coding", post("Transfer-Encoding: chunked \r\n", "0\r\n\r\n"), 501),
        RawRequest(
            "a tab behind a coding", post("Transfer-Encoding: chunked\t\r\n", "0\r\n\r\n"), 501),
        RawRequest(
            "a coding after a vertical tab",
            post("Transfer-Encoding: \u{b}chunked\r\n", "0\r\n\r\n"), 400),
        RawRequest(
            "chunks in HTTP/1.0", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400),
    ]

    private static let chunks = [
        RawRequest("a size with a sign", chunked("+3\r\nabc\r\n0\r\n\r\n"), 400),
        RawRequest("a size with 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n"), 400),
        RawRequest("a blank after a size", chunked("3 \r\nabc\r\n0\r\n\r\n"), 400),
        RawRequest("no size", chunked("\r\nabc\r\n0\r\n\r\n"), 400),
        RawRequest("a size beyond 64 bits", chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), 400),
        RawRequest("LF after a size", chunked("3\nabc\r\n0\r\n\r\n"), 400),
        RawRequest("LF in an extension", chunked("3;a\nabc\r\n0\r\n\r\n"), 400),
        RawRequest("LF after a chunk", chunked("3\r\nabc\n0\r\n\r\n"), 400),
        RawRequest("a chunk that is longer than it says", chunked("3\r\nabcd\r\n0\r\n\r\n"), 400),
        RawRequest(
            "an extension without end", chunked("3;" + String(repeating: "a", count: 200)), 400),
        RawRequest("a field after the chunks", chunked("0\r\nX-A: b\r\n\r\n"), 400),
        RawRequest("a length after the chunks", chunked("0\r\nContent-Length: 3\r\n\r\nabc"), 400),
        RawRequest("LF after the last chunk", chunked("0\r\n\n"), 400),
    ]

    private static let smuggled = [
        RawRequest(
            "CL.TE",
            post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden), 400),
        RawRequest(
            "TE.CL",
            post(
                "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
                "3c\r\n" + hidden + "\r\n0\r\n\r\n"), 400),
        RawRequest(
            "TE.TE",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "0\r\n\r\n" + hidden),
            400),
        RawRequest("CL.CL", post("Content-Length: 0\r\nContent-Length: 40\r\n", hidden), 400),
        RawRequest("a length behind a blank", post("Content-Length : 5\r\n", hidden), 400),
        RawRequest(
            "a length before a blank", post("Content-Length: 5 \r\n", "abcde" + hidden), 400),
        RawRequest(
            "a length before a tab", post("Content-Length: 5\t\r\n", "abcde" + hidden), 400),
        RawRequest(
            "a coding before a blank",
            post("Transfer-Encoding: chunked \r\n", "5\r\nabcde\r\n0\r\n\r\n" + hidden), 501),
        RawRequest(
            "a coding before a tab",
            post("Transfer-Encoding: chunked\t\r\n", "5\r\nabcde\r\n0\r\n\r\n" + hidden), 501),
        RawRequest(
            "a coding behind a blank",
            post("Content-Length: 5\r\nTransfer-Encoding : chunked\r\n", "0\r\n\r\n" + hidden), 400),
        RawRequest(
            "a coding in a folded line",
            post("X-A: b\r\n Transfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden), 400),
        RawRequest(
            "a coding behind CR",
            post("X-A: b\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden), 400),
        RawRequest(
            "a coding behind LF",
            post("X-A: b\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden), 400),
        RawRequest(
            "a coding on the next line",
            post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n" + hidden), 501),
        RawRequest("a hidden request in a chunk", chunked("0\r\nX: y\r\n\r\n" + hidden), 400),
        RawRequest(
            "after a request that is fine", get("") + post("Content-Length : 5\r\n", hidden), 200,
            400),
        RawRequest("after chunks that are fine", chunked("0\r\n\r\n") + "\u{0}" + hidden, 200, 400),
        RawRequest(
            "a body that is a request", post("Content-Length: \(hidden.utf8.count)\r\n", hidden),
            200, bodies: hidden),
    ]

    private static let long = [
        RawRequest(
            "a target of 9,000 bytes", get("", target: "/" + String(repeating: "a", count: 9000)),
            414),
        RawRequest(
            "a first line of 20,000 bytes",
            get("", target: "/" + String(repeating: "a", count: 20_000)), 414),
        RawRequest(
            "a first line that does not end", "GET /" + String(repeating: "a", count: 20_000), 414),
        RawRequest(
            "a query of 200 parts", get("", target: "/a?" + String(repeating: "&", count: 200)), 414
        ),
        RawRequest(
            "a field of 20,000 bytes",
            get("X-A: " + String(repeating: "a", count: 20_000) + "\r\n"), 431),
        RawRequest("a thousand fields", get(String(repeating: "X-A: b\r\n", count: 1000)), 431),
        RawRequest(
            "a thousand cookies", get("Cookie: " + String(repeating: "a=b;", count: 1000) + "\r\n"),
            431),
        RawRequest(
            "600 cookies with commas",
            get("Cookie: " + String(repeating: "a=b,", count: 600) + "\r\n"), 431),
        RawRequest(
            "50 cookies with commas",
            get("Cookie: " + String(repeating: "a=b, ", count: 50) + "\r\n"), 200),
        RawRequest(
            "a field of 7,000 bytes", get("X-A: " + String(repeating: "a", count: 7000) + "\r\n"),
            200),
        RawRequest("a hundred fields", get(String(repeating: "X-A: b\r\n", count: 100)), 200),
        RawRequest(
            "a query of 50 parts", get("", target: "/a?" + String(repeating: "&", count: 50)), 200),
        RawRequest(
            "50 cookies", get("Cookie: " + String(repeating: "a=b; ", count: 50) + "\r\n"), 200),
    ]
}
