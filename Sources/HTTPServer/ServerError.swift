import Glibc

/// Why a server could not start.
package enum ServerError: Error, Equatable, CustomStringConvertible {
    case addressMalformed(String)
    case addressTaken(String)
    case addressUnusable(String, code: Int32)
    case fileUnreadable(path: String, code: Int32)
    case certificateRejected(certificate: String, key: String)
    case outOfResources
    /// The library would receive unchecked requests.
    case unguarded

    package var description: String {
        switch self {
        case .addressMalformed(let address):
            "\"\(address)\" is not an address to listen on; write it like 127.0.0.1:8080, [::1]:8080 or :8080"
        case .addressTaken(let address):
            "\(address) is in use by another process; stop that process or choose another port"
        case .addressUnusable(let address, let code):
            "cannot listen on \(address): \(text(of: code)); choose an address of this machine"
                + " and a port that this process may use"
        case .fileUnreadable(let path, let code):
            "cannot read \(path): \(text(of: code)); check the path and the file's permissions"
        case .certificateRejected(let certificate, let key):
            "\(certificate) and \(key) are not a certificate and its key;"
                + " both must be PEM, and the key must be the certificate's"
        case .outOfResources:
            "the server's threads could not be started; raise the limits of threads and open files"
        case .unguarded:
            "this program was linked so that it cannot inspect requests before they are parsed; build it"
                + " with the Package.swift that it comes with, against the shared libmicrohttpd"
        }
    }

    private func text(of code: Int32) -> String { String(cString: strerror(code)) }
}
