/// An app whose evidence is taken.
package struct TrustedApp: Hashable, Sendable {
    package let id: AppID
    /// Apple's number of the app, compared if evidence names one.
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

/// What a notification says about itself.
package struct NotificationHead: Hashable, Sendable {
    /// The same in every repetition of one notification.
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

/// Evidence as it came; nothing in it is believed.
package struct RawEvidence: Hashable, Sendable {
    /// The largest that is read at all.
    package static let byteLimit = 4 << 20

    package let kind: EvidenceKind
    package let bytes: [UInt8]
    /// How it came; for receipts and notifications what they are counts instead.
    package let rank: Rank
    /// SHA-256 of the bytes, where it was taken already and nothing is wrapped around them.
    package let digest: [UInt8]?
    /// The app that proven evidence with it names: a renewal info names none itself.
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

    /// What its store knows an app by.
    package func key(of app: AppID) -> AppKey { AppKey(store: kind.store, id: app) }
}

/// What evidence says about itself, unproven: enough to know whom to ask, and no more.
package struct EvidenceHeading: Hashable, Sendable {
    /// SHA-256 of the evidence, however it was wrapped.
    package let digest: [UInt8]
    /// The word of its kind: an item of the queue may be of one that this release does not know.
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

/// What evidence states, once it is proven that the store says so, of a trusted app.
package struct ProvenEvidence: Hashable, Sendable {
    package let kind: EvidenceKind
    package let environment: Environment
    package let app: AppID
    package let facts: Facts
    /// Only notifications have one.
    package let notification: NotificationHead?
    /// The evidence as it is kept.
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

/// Why evidence is not believed.
package struct RefusedEvidence: Error, Hashable, Sendable {
    /// The stable name that programs compare.
    package let code: String
    /// What is wrong with it, in one sentence.
    package let sentence: String
    package let cure: Cure

    /// What may have the same bytes believed after all.
    package enum Cure: Hashable, Sendable {
        case none
        case time
        /// It is for none of the apps as they are set: an operator sets the app.
        case settingTheApp
    }

    package init(code: String, sentence: String, cure: Cure = .none) {
        self.code = code
        self.sentence = sentence
        self.cure = cure
    }
}

extension App {
    /// The app as evidence is measured against it: that of either environment is taken.
    package var trusted: TrustedApp {
        TrustedApp(id: key.id, appleID: appleID)
    }
}

extension [UInt8] {
    /// As lower-case hexadecimal digits, the way that digests are written.
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
}
