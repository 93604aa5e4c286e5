/// An app whose evidence Deed accepts.
package struct TrustedApp: Hashable, Sendable {
    package let id: AppID
    /// Apple's numeric id of the app. If the evidence names an id, the two are compared.
    package let appleID: Int64?
    package let environments: Set<Environment>

    package init(
        id: AppID, appleID: Int64?,
        environments: Set<Environment> = Set(Environment.allCases)
    ) {
        self.id = id
        self.appleID = appleID
        self.environments = environments
    }
}

/// A notification's own description of itself.
package struct NotificationHead: Hashable, Sendable {
    /// The notification's id, which is the same for every delivery.
    package let id: String
    package let type: String
    package let subtype: String?
    package let version: String?

    package init(id: String, type: String, subtype: String?, version: String?) {
        self.id = id
        self.type = type
        self.subtype = subtype
        self.version = version
    }
}

/// Evidence as received. None of it is trusted yet.
package struct RawEvidence: Hashable, Sendable {
    /// The maximum size of evidence that Deed reads.
    package static let byteLimit = 4 << 20

    package let kind: EvidenceKind
    package let bytes: [UInt8]
    /// The rank of the evidence by the way it arrived. Receipts and notifications are ranked by their kind instead.
    package let rank: Rank
    /// The SHA-256 of the bytes, if it has been computed and the evidence has no wrapping.
    package let digest: [UInt8]?
    /// The app named by verified evidence that arrived together with this evidence. Renewal info itself names no app.
    package var companion: AppID?

    package init(
        _ kind: EvidenceKind, _ bytes: [UInt8], rank: Rank = .clientTransaction,
        digest: [UInt8]? = nil
    ) {
        self.kind = kind
        self.bytes = bytes
        self.rank = rank
        self.digest = digest
    }

    package func key(of app: AppID) -> AppKey { AppKey(store: kind.store, id: app) }
}

/// The evidence's unverified claims about itself. They only serve to decide which store to ask.
package struct EvidenceHeading: Hashable, Sendable {
    /// The SHA-256 of the evidence without its wrapping.
    package let digest: [UInt8]
    /// The name of the evidence's kind. It is a string because this release may not know the kind of a queued item.
    package let kind: String
    package let environment: Environment
    package let app: AppID

    package init(digest: [UInt8], kind: String, environment: Environment, app: AppID) {
        self.digest = digest
        self.kind = kind
        self.environment = environment
        self.app = app
    }
}

/// What evidence states, once it has been verified to come from the store and to concern a trusted
/// app.
package struct ProvenEvidence: Hashable, Sendable {
    package let kind: EvidenceKind
    package let environment: Environment
    package let app: AppID
    package let facts: Facts
    /// `nil` unless the evidence is a notification.
    package let notification: NotificationHead?
    /// The evidence in the form in which it is stored.
    package let record: EvidenceRecord

    package init(
        kind: EvidenceKind, environment: Environment, app: AppID, facts: Facts,
        notification: NotificationHead? = nil, record: EvidenceRecord
    ) {
        self.kind = kind
        self.environment = environment
        self.app = app
        self.facts = facts
        self.notification = notification
        self.record = record
    }
}

/// Why evidence is refused.
package struct RefusedEvidence: Error, Hashable, Sendable {
    /// The stable code, for comparison by programs.
    package let code: String
    /// A sentence that describes the problem with the evidence.
    package let sentence: String
    package let cure: Cure

    /// A remedy after which the same bytes may become acceptable.
    package enum Cure: Hashable, Sendable {
        case none
        case time
        /// The evidence does not match any app as currently configured. An operator has to change the app's settings.
        case settingTheApp
    }

    package init(code: String, sentence: String, cure: Cure = .none) {
        self.code = code
        self.sentence = sentence
        self.cure = cure
    }
}

extension App {
    /// The app as used to check evidence. Evidence from either environment is accepted.
    package var trusted: TrustedApp {
        TrustedApp(id: key.id, appleID: appleID)
    }
}

extension [UInt8] {
    /// The bytes as lower-case hexadecimal digits, which is how digests are written.
    package var hexDigits: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * count)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads bytes from hexadecimal digits; `nil` for any other text.
    package init?(hexDigits text: String) {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard
                let byte = UInt8(
                    String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16),
                digits[place] != UInt8(ascii: "+")
            else { return nil }
            bytes.append(byte)
        }
        self = bytes
    }
}
