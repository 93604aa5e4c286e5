package import Core
package import Crypto

/// The reason why evidence is refused. All reasons are listed below.
package struct EvidenceRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable code that programs can compare.
    package let code: String
    package let description: String
    /// What could make the same bytes acceptable later.
    package let cure: RefusedEvidence.Cure
    /// The check that failed.
    package let check: Check.Name
    /// Whether the content was proven but refused, because some members have a form that this release does not know.
    let isOfUnknownForm: Bool
    /// How a statement inside a notification differs from the notification.
    private let difference: String?

    private init(
        _ code: String, _ check: Check.Name, _ description: String,
        cure: RefusedEvidence.Cure = .none, isOfUnknownForm: Bool = false,
        difference: String? = nil
    ) {
        self.code = code
        self.description = description
        self.cure = cure
        self.check = check
        self.isOfUnknownForm = isOfUnknownForm
        self.difference = difference
    }

    /// Returns the refusal of a statement inside a notification. Such a statement is compared with
    /// the notification and not with the configured apps.
    package static func inside(_ kind: EvidenceKind, _ refusal: EvidenceRefusal) -> Self {
        let reason = refusal.difference ?? "is refused: \(refusal.description)"
        return Self(
            refusal.code, .inside, "The \(kind.word) inside \(reason)",
            cure: refusal.difference == nil ? refusal.cure : .none)
    }
}

// Refusals based on the evidence's form.
extension EvidenceRefusal {
    package static let unrecognized = Self(
        "unrecognized", .format, "The bytes do not look like any evidence from the store."
    )

    package static func wrongKind(expected: EvidenceKind, found: EvidenceKind) -> Self {
        Self(
            "wrong_kind", .contents,
            "This is evidence of the kind \(found.word) where \(expected.word) belongs.")
    }

    package static func tooLarge(limit: Int) -> Self {
        Self("too_large", .format, "The evidence is larger than \(limit) bytes.")
    }

    package static let badBase64 = Self(
        "bad_base64", .format,
        "The base64 is not in strict form; send it without spaces or line breaks.")

    package static func badJSON(_ reason: String) -> Self {
        Self("bad_json", .format, "The JSON is refused: \(reason).")
    }

    package static let badASN1 = Self(
        "bad_asn1", .format,
        "The ASN.1 is broken or cut short; send the receipt file unchanged.")
    package static let trailingBytes = Self(
        "trailing_bytes", .format,
        "There are more bytes after the receipt; send the receipt file unchanged.")
    package static let transactionReceipt = Self(
        "transaction_receipt", .format,
        "This is an iOS 6 transaction receipt for one purchase, which only the store can judge. "
            + "Allow that with: deed app set --receipts store, or send the app's receipt, which "
            + "also contains that purchase.")
    package static let malformedSignedJSON = Self(
        "malformed_jws", .format,
        "This is not three parts of unpadded base64url, joined by dots.")

    package static func algorithmRefused(_ name: String?) -> Self {
        Self(
            "algorithm_refused", .format,
            name.map { "The store does not sign with the algorithm \($0)." }
                ?? "The header names no algorithm.")
    }

    package static func certificateCount(_ count: Int) -> Self {
        Self(
            "certificate_count", .format,
            "The header contains \(count) certificates; the store attaches exactly 3.")
    }

    package static let unknownCriticalHeader = Self(
        "unknown_critical_header", .format,
        "The header has a critical extension that Deed does not understand.")
    package static let wrongContentType = Self(
        "wrong_content_type", .format, "The PKCS#7 contains something other than signed data.")
    package static let contentMissing = Self(
        "content_missing", .format, "The PKCS#7 contains a signature without the signed content.")
    package static let noSigner = Self("no_signer", .format, "The evidence has no signer.")
    package static let severalSigners = Self(
        "several_signers", .format,
        "The evidence names more than one signer; the store's has exactly one.")
}

// Refusals based on the signature.
extension EvidenceRefusal {
    package static let signerCertificateMissing = Self(
        "signer_certificate_missing", .chain, "The signer's certificate is not attached.")

    package static func chain(_ refusal: ChainRefusal) -> Self {
        let isOfTime = refusal == .expired || refusal == .notYetValid
        return Self(refusal.code, isOfTime ? .validity : .chain, refusal.description)
    }

    package static let signatureForm = Self(
        "signature_form", .signature,
        "The signature does not have the length and form that the store uses.")
    package static let signatureInvalid = Self(
        "signature_invalid", .signature,
        "The signature does not match the content: the content was changed or is not from the store."
    )
    package static let unsigned = Self(
        "unsigned", .signature,
        "A verifyReceipt reply is not signed: it counts only if Deed itself got it from the store."
    )
    package static let answerOnly = Self(
        "unsigned", .signature,
        "A store's answer is not signed: it counts only if Deed itself got it from the store."
    )
    package static let tokenOnly = Self(
        "unsigned", .signature,
        "A purchase token proves nothing by itself: Deed asks the store what was bought with it.")
    package static let weakDigest = Self(
        "weak_digest", .digest,
        "The signature uses SHA-1, which Deed does not accept for evidence signed after January 2025."
    )
}

// Refusals based on the content.
extension EvidenceRefusal {
    package static func invalidMember(_ name: String) -> Self {
        Self(
            "invalid_member", .contents,
            "The value of \(name) is missing or has the wrong type.", isOfUnknownForm: true)
    }

    /// Refuses a date outside the range of years that evidence may state.
    package static func instantOutOfRange(_ name: String) -> Self {
        Self(
            "invalid_member", .contents,
            "The date in \(name) is outside the years 1970 to 9999; no store signs such a date.",
            isOfUnknownForm: true)
    }

    package static let signedDateMissing = Self(
        "signed_date_missing", .contents, "The evidence does not say when it was signed.",
        isOfUnknownForm: true)
    package static let signedInFuture = Self(
        "signed_in_future", .signingTime,
        "The evidence was signed more than five minutes in the future; compare the clocks.",
        cure: .time)

    package static func unknownEnvironment(_ name: String) -> Self {
        Self(
            "unknown_environment", .contents, "The environment \"\(name)\" is not known.",
            isOfUnknownForm: true)
    }

    package static let extraRootForProduction = Self(
        "extra_root_for_production", .environment,
        "An extra root can only vouch for sandbox evidence.")

    package static func extraRootNeeded(_ name: String) -> Self {
        Self(
            "extra_root_needed", .environment,
            "Only an extra root can vouch for the environment \"\(name)\".")
    }

    package static func foreignEnvironment(_ environment: Environment) -> Self {
        Self(
            "foreign_environment", .environment,
            "The app does not accept evidence from \(environment.rawValue).",
            difference: "is from \(environment.rawValue), but the statement around it is not.")
    }

    package static func foreignBundleID(_ id: String) -> Self {
        Self(
            "foreign_bundle_id", .bundleID,
            "The evidence was made for \(id), which is not a configured app.", cure: .settingTheApp,
            difference: "was made for \(id), but the statement around it was not.")
    }

    package static func foreignPackage(_ id: String) -> Self {
        Self(
            "foreign_package", .bundleID,
            "The purchase was made in the package \(id), which is not a configured app.",
            cure: .settingTheApp)
    }

    package static let foreignAppID = Self(
        "foreign_app_id", .bundleID, "The evidence was made for an app with another Apple id.",
        cure: .settingTheApp)
    package static let versionMismatch = Self(
        "version_mismatch", .version, "The evidence was made for another version of the app.")
    package static let deviceMismatch = Self(
        "device_mismatch", .device, "The evidence was made on another device.")
    package static let receiptExpired = Self(
        "receipt_expired", .licence,
        "The app's licence has ended, so this receipt no longer counts.")
}

// Refusals based on the store's reply.
extension EvidenceRefusal {
    package static func replyRefused(status: Int64) -> Self {
        Self("reply_refused", .status, "The store refused the receipt with status \(status).")
    }

    package static func replyLater(status: Int64) -> Self {
        Self(
            "reply_later", .status,
            "The store could not decide and answered with status \(status); ask again later.",
            cure: .time)
    }

    package static func replyFromOtherEnvironment(_ environment: Environment) -> Self {
        Self(
            "reply_from_other_environment", .status,
            "The receipt belongs to \(environment.rawValue); ask the store there.", cure: .time)
    }
}
