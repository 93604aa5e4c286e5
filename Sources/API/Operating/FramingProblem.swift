package import HTTPServer

extension Problem {
    /// Creates the answer to bytes that are not an unambiguous request. The connection then closes, because the meaning
    /// of later bytes is unclear.
    package init(_ fault: FramingFault) {
        let words = fault.words
        self.init(status: fault.status, code: words.code, detail: words.detail)
    }
}

extension FramingFault {
    fileprivate var words: (code: String, detail: String) {
        switch self {
        case .malformedRequestLine:
            (
                code: "malformed_request",
                detail:
                    "The first line is not a request; send a method, a path that begins with / and has"
                    + " no spaces and no #, and HTTP/1.1, with one space between them and CRLF at the end."
            )
        case .malformedHeader:
            (
                code: "malformed_header",
                detail:
                    "A header is not a name, a colon and a value; send each header on a separate line"
                    + " that ends with CRLF, without spaces around the name and without control"
                    + " characters."
            )
        case .malformedHost:
            (
                code: "malformed_host",
                detail: "Send exactly one Host header with a host name and an optional port."
            )
        case .malformedLength:
            (
                code: "malformed_length",
                detail: "Content-Length must be a single decimal number, with nothing after it."
            )
        case .ambiguousLength:
            (
                code: "ambiguous_length",
                detail:
                    "The headers do not say clearly where the body ends; send one Content-Length, or"
                    + " Transfer-Encoding: chunked with HTTP/1.1, and not both."
            )
        case .malformedChunk:
            (
                code: "malformed_chunk",
                detail:
                    "The body is not chunked as its header says; send each chunk with its size in"
                    + " hexadecimal digits, end lines with CRLF, and add no trailer."
            )
        case .lengthTooLarge:
            (
                code: "body_too_large",
                detail: "Content-Length exceeds the limit of every call; send a smaller body."
            )
        case .targetTooLong:
            (
                code: "target_too_long",
                detail: "The first line is too long; send a shorter path or query."
            )
        case .headTooLarge:
            (
                code: "head_too_large",
                detail: "The headers are too large; send fewer or shorter ones."
            )
        case .unknownMethod:
            (
                code: "method_unknown",
                detail: "The method is longer than that of any call; docs/api.md lists the calls."
            )
        case .unknownTransferCoding:
            (
                code: "transfer_coding_unknown",
                detail:
                    "Transfer-Encoding must be exactly chunked, with not even a space after it;"
                    + " send the body without other encodings."
            )
        case .unknownVersion:
            (
                code: "version_unknown",
                detail: "This server speaks HTTP/1.1 and HTTP/1.0; send one of them."
            )
        }
    }
}
