package import HTTPServer

extension Problem {
    /// What is answered to bytes that are no request beyond doubt. The connection ends with it: what
    /// follows could be anything.
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
                    "The first line is no request; send a method, a path that begins with / and has"
                    + " neither blanks nor #, and HTTP/1.1, with one blank between them and CRLF after."
            )
        case .malformedHeader:
            (
                code: "malformed_header",
                detail:
                    "A header is not a name, a colon and a value in one line; send each in a line of"
                    + " its own that ends with CRLF, without blanks around the name and without control"
                    + " characters."
            )
        case .malformedHost:
            (
                code: "malformed_host",
                detail: "Send one Host header that is the name of a host, and maybe a port."
            )
        case .malformedLength:
            (
                code: "malformed_length",
                detail: "Content-Length takes one number of digits, with no blank behind it."
            )
        case .ambiguousLength:
            (
                code: "ambiguous_length",
                detail:
                    "The headers leave in doubt where the body ends; send one Content-Length, or"
                    + " Transfer-Encoding: chunked with HTTP/1.1, and not both."
            )
        case .malformedChunk:
            (
                code: "malformed_chunk",
                detail: "The body is not in chunks as its header says; send each with its size in"
                    + " hexadecimal digits, end lines with CRLF, and add no trailer."
            )
        case .lengthTooLarge:
            (
                code: "body_too_large",
                detail: "Content-Length is more than any call takes; send a smaller body."
            )
        case .targetTooLong:
            (
                code: "target_too_long",
                detail: "The first line is longer than is read; send a shorter path or query."
            )
        case .headTooLarge:
            (
                code: "head_too_large",
                detail: "The headers are more than are read; send fewer or shorter ones."
            )
        case .unknownMethod:
            (
                code: "method_unknown",
                detail: "No call has a method that long; see the README for the calls."
            )
        case .unknownTransferCoding:
            (
                code: "transfer_coding_unknown",
                detail:
                    "Transfer-Encoding takes chunked and nothing else, not even a blank behind it;"
                    + " send the body plain."
            )
        case .unknownVersion:
            (
                code: "version_unknown",
                detail: "This server speaks HTTP/1.1 and HTTP/1.0; send one of them."
            )
        }
    }
}
