/// Why a certificate chain is not trusted.
package enum ChainRefusal: Error, Hashable, Sendable {
    package enum Place: String, Sendable {
        case leaf
        case intermediate
        case root
    }
    case badCertificate
    case tooManyCertificates(limit: Int)
    case untrustedRoot
    case issuerMissing
    case issuerSignatureInvalid
    case markerMissing(Place)
    case notAnAuthority(Place)
    case leafIsAuthority
    case pathTooLong
    case wrongKeyUsage(Place)
    case unsupportedKey(Place)
    case unsupportedSignature(Place)
    case unknownCriticalExtension(Place)
    case expired
    case notYetValid

    /// A stable code for programs.
    package var code: String {
        switch self {
        case .badCertificate: "bad_certificate"
        case .tooManyCertificates: "too_many_certificates"
        case .untrustedRoot: "untrusted_root"
        case .issuerMissing: "issuer_missing"
        case .issuerSignatureInvalid: "issuer_signature_invalid"
        case .markerMissing: "marker_missing"
        case .notAnAuthority: "not_an_authority"
        case .leafIsAuthority: "leaf_is_authority"
        case .pathTooLong: "path_too_long"
        case .wrongKeyUsage: "wrong_key_usage"
        case .unsupportedKey: "unsupported_key"
        case .unsupportedSignature: "unsupported_signature"
        case .unknownCriticalExtension: "unknown_critical_extension"
        case .expired: "certificate_expired"
        case .notYetValid: "certificate_not_yet_valid"
        }
    }
}

extension ChainRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .badCertificate: "A certificate cannot be read."
        case .tooManyCertificates(let limit): "More than \(limit) certificates are attached."
        case .untrustedRoot:
            "The chain does not end at a pinned root; only the store's own signature counts."
        case .issuerMissing: "The certificate that issued the signer's is not attached."
        case .issuerSignatureInvalid:
            "The signer's certificate was not signed by the issuer that it names."
        case .markerMissing(let place):
            "The \(place.rawValue) certificate lacks the extension that marks the store's signers."
        case .notAnAuthority(let place):
            "The \(place.rawValue) certificate may not issue other certificates: it is not an authority."
        case .leafIsAuthority: "The signer's certificate is an authority, which may not sign."
        case .pathTooLong: "The root does not allow an authority below it."
        case .wrongKeyUsage(let place):
            "The \(place.rawValue) certificate's key usage does not allow this use."
        case .unsupportedKey(let place):
            "The \(place.rawValue) certificate's key is not of a kind that the store uses here."
        case .unsupportedSignature(let place):
            "The \(place.rawValue) certificate is signed with an algorithm that Deed does not accept."
        case .unknownCriticalExtension(let place):
            "The \(place.rawValue) certificate has a critical extension that Deed does not understand."
        case .expired: "A certificate had expired when the store signed."
        case .notYetValid: "A certificate was not valid yet when the store signed."
        }
    }
}
