package import Core
package import Crypto

/// Why evidence is not believed.
package enum EvidenceRefusal: Error, Hashable, Sendable {
    // What the bytes are.
    case unrecognized
    case wrongKind(expected: EvidenceKind, found: EvidenceKind)
    case tooLarge(limit: Int)
    case badBase64
    case badJSON(String)
    case badASN1
    case trailingBytes
    case transactionReceipt
    case malformedSignedJSON
    case algorithmRefused(String?)
    case certificateCount(Int)
    case unknownCriticalHeader
    case wrongContentType
    case contentMissing
    case noSigner
    case severalSigners
    // Whether the store signed them.
    case signerCertificateMissing
    case chain(ChainRefusal)
    case signatureForm
    case signatureInvalid
    case unsigned
    // What they state.
    case invalidMember(String)
    /// A date outside of the years that evidence may state.
    case instantOutOfRange(String)
    case signedDateMissing
    case signedInFuture
    case weakDigest
    case unknownEnvironment(String)
    case extraRootForProduction
    case extraRootNeeded(String)
    case foreignEnvironment(Environment)
    case foreignBundleID(String)
    case foreignAppID
    case versionMismatch
    case deviceMismatch
    case receiptExpired
    /// A signed statement inside a notification is refused for a reason of its own.
    indirect case inside(EvidenceKind, EvidenceRefusal)
    // What the store answered.
    case replyRefused(status: Int64)
    case replyLater(status: Int64)
    case replyFromOtherEnvironment(Environment)
}

extension EvidenceRefusal {
    /// Whether the contents, and not their proof, are what is wrong: members that this release does
    /// not know in that form.
    var isOfUnknownForm: Bool {
        switch self {
        case .invalidMember, .instantOutOfRange, .signedDateMissing, .unknownEnvironment: true
        default: false
        }
    }

    /// What may have the same bytes believed after all.
    package var cure: RefusedEvidence.Cure {
        switch self {
        case .signedInFuture, .replyLater, .replyFromOtherEnvironment: .time
        case .foreignBundleID, .foreignAppID: .settingTheApp
        // What is inside is measured against the outside, and not against the apps as they are set.
        case .inside(_, .foreignBundleID), .inside(_, .foreignEnvironment): .none
        case .inside(_, let refusal): refusal.cure
        default: .none
        }
    }

    /// The stable name that programs compare.
    package var code: String {
        switch self {
        case .unrecognized: "unrecognized"
        case .wrongKind: "wrong_kind"
        case .tooLarge: "too_large"
        case .badBase64: "bad_base64"
        case .badJSON: "bad_json"
        case .badASN1: "bad_asn1"
        case .trailingBytes: "trailing_bytes"
        case .transactionReceipt: "transaction_receipt"
        case .malformedSignedJSON: "malformed_jws"
        case .algorithmRefused: "algorithm_refused"
        case .certificateCount: "certificate_count"
        case .unknownCriticalHeader: "unknown_critical_header"
        case .wrongContentType: "wrong_content_type"
        case .contentMissing: "content_missing"
        case .noSigner: "no_signer"
        case .severalSigners: "several_signers"
        case .signerCertificateMissing: "signer_certificate_missing"
        case .chain(let refusal): refusal.code
        case .signatureForm: "signature_form"
        case .signatureInvalid: "signature_invalid"
        case .unsigned: "unsigned"
        case .invalidMember, .instantOutOfRange: "invalid_member"
        case .signedDateMissing: "signed_date_missing"
        case .signedInFuture: "signed_in_future"
        case .weakDigest: "weak_digest"
        case .unknownEnvironment: "unknown_environment"
        case .extraRootForProduction: "extra_root_for_production"
        case .extraRootNeeded: "extra_root_needed"
        case .foreignEnvironment: "foreign_environment"
        case .foreignBundleID: "foreign_bundle_id"
        case .foreignAppID: "foreign_app_id"
        case .versionMismatch: "version_mismatch"
        case .deviceMismatch: "device_mismatch"
        case .receiptExpired: "receipt_expired"
        case .inside(_, let refusal): refusal.code
        case .replyRefused: "reply_refused"
        case .replyLater: "reply_later"
        case .replyFromOtherEnvironment: "reply_from_other_environment"
        }
    }
}

extension EvidenceRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unrecognized, .wrongKind, .tooLarge, .badBase64, .badJSON, .badASN1, .trailingBytes,
            .transactionReceipt, .malformedSignedJSON, .algorithmRefused, .certificateCount,
            .unknownCriticalHeader, .wrongContentType, .contentMissing, .noSigner, .severalSigners:
            formDescription
        case .signerCertificateMissing, .chain, .signatureForm, .signatureInvalid, .unsigned,
            .weakDigest:
            proofDescription
        default: statementDescription
        }
    }

    private var formDescription: String {
        switch self {
        case .wrongKind(let expected, let found):
            "This is evidence of the kind \(found.word) where \(expected.word) belongs."
        case .tooLarge(let limit): "The evidence is larger than \(limit) bytes."
        case .badBase64: "The base64 is not written strictly; send it without spaces or line ends."
        case .badJSON(let reason): "The JSON is refused: \(reason)."
        case .badASN1: "The ASN.1 is broken or cut short; send the receipt file unchanged."
        case .trailingBytes: "Something follows the receipt; send the receipt file unchanged."
        case .transactionReceipt:
            "This is a transaction receipt of iOS 6, for one purchase, which only the store can judge: "
                + "allow that with: deed app set --receipts store, or send the app's receipt, which "
                + "holds that purchase too."
        case .malformedSignedJSON: "This is not three parts of unpadded base64url, joined by dots."
        case .algorithmRefused(let name):
            name.map { "The store does not sign with the algorithm \($0)." }
                ?? "No algorithm is named."
        case .certificateCount(let count):
            "The header holds \(count) certificates; the store attaches exactly 3."
        case .unknownCriticalHeader: "The header demands something that Deed does not understand."
        case .wrongContentType: "The PKCS#7 holds something other than signed data."
        case .contentMissing: "The PKCS#7 holds a signature without what was signed."
        case .noSigner: "It has no signer."
        case .severalSigners: "More than one signer is named; the store's evidence has exactly one."
        default: "The bytes do not look like any evidence that the store hands out."
        }
    }

    private var proofDescription: String {
        switch self {
        case .signerCertificateMissing: "The certificate of the signer is not attached."
        case .chain(let refusal): refusal.description
        case .signatureForm:
            "The signature does not have the length and form that the store writes."
        case .weakDigest:
            "Its signature uses SHA-1, which does not count for anything signed after January 2025."
        case .unsigned:
            "A verifyReceipt reply is not signed: it counts only when Deed itself got it from the store."
        default:
            "The signature does not match the content, which was changed or is not the store's."
        }
    }

    private var statementDescription: String {
        switch self {
        case .invalidMember(let name):
            "The value of \(name) is missing or has the wrong type."
        case .instantOutOfRange(let name):
            "The date of \(name) lies outside of the years 1970 to 9999; no store signs such a date."
        case .signedDateMissing: "It does not say when it was signed."
        case .signedInFuture: "It was signed more than five minutes from now; compare the clocks."
        case .unknownEnvironment(let name): "The environment \"\(name)\" is not known."
        case .extraRootForProduction: "An extra root can vouch for sandbox evidence only."
        case .extraRootNeeded(let name):
            "Only an extra root can vouch for the environment \"\(name)\"."
        case .foreignEnvironment(let environment):
            "The app takes no evidence from \(environment.rawValue)."
        case .foreignBundleID(let id): "It was made for \(id), which is not a configured app."
        case .foreignAppID: "It was made for an app with another Apple id."
        case .versionMismatch: "It was made for another version of the app."
        case .deviceMismatch: "It was made on another device."
        case .receiptExpired: "The app's licence ended with this receipt."
        case .inside(let kind, .foreignBundleID(let id)):
            "The \(kind.word) inside was made for \(id), and what is around it for another app."
        case .inside(let kind, .foreignEnvironment(let environment)):
            "The \(kind.word) inside is from \(environment.rawValue), and what is around it is not."
        case .inside(let kind, let refusal): "The \(kind.word) inside is refused: \(refusal)"
        case .replyRefused(let status): "The store refuses the receipt with status \(status)."
        case .replyLater(let status):
            "The store could not decide and answered with status \(status); ask again later."
        case .replyFromOtherEnvironment(let environment):
            "The receipt belongs to \(environment.rawValue); ask the store there."
        default: "The evidence is not believed."
        }
    }
}
