import Core
import JSON

/// An enumeration of a store, of which a newer store may know more values than this release: the
/// known ones are written as words, any other as `{"unknown": raw}`.
protocol WordCodable: PayloadCodable, Equatable {
    static var words: [(word: String, value: Self)] { get }
    /// The raw value of one that has no word.
    var unknown: JSON? { get }
    init?(unknown: JSON)
}

extension WordCodable {
    var payload: JSON {
        if let unknown { return ["unknown": unknown] }
        return .optional(Self.words.first { $0.value == self }?.word)
    }

    init(_ payload: Payload) throws {
        let known = Self.words.first { $0.word == payload.value.string }?.value
        guard let value = known ?? payload.value["unknown"].flatMap(Self.init(unknown:)) else {
            throw Payload.Misfit(name: "\(Self.self)")
        }
        self = value
    }
}

extension Rank {
    init(_ payload: Payload) throws {
        let word = try payload.text("rank")
        guard let rank = Rank.allCases.first(where: { $0.word == word }) else {
            throw Payload.Misfit(name: "rank")
        }
        self = rank
    }
}

extension Revocation.Reason: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("other", .other), ("issue_with_app", .issueWithApp),
    ]

    var unknown: JSON? {
        if case .unknown(let raw) = self { .integer(raw) } else { nil }
    }

    init?(unknown: JSON) {
        guard let raw = unknown.integer else { return nil }
        self = .unknown(raw)
    }
}

extension Revocation.Extent: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("full", .full), ("prorated", .prorated), ("family", .family),
    ]

    var unknown: JSON? {
        if case .unknown(let raw) = self { .string(raw) } else { nil }
    }

    init?(unknown: JSON) {
        guard let raw = unknown.string else { return nil }
        self = .unknown(raw)
    }
}

extension Offer.Kind: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("introductory", .introductory), ("promotional", .promotional), ("code", .code),
        ("win_back", .winBack),
    ]

    var unknown: JSON? {
        if case .unknown(let raw) = self { .integer(raw) } else { nil }
    }

    init?(unknown: JSON) {
        guard let raw = unknown.integer else { return nil }
        self = .unknown(raw)
    }
}

extension Offer.Discount: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("free_trial", .freeTrial), ("pay_as_you_go", .payAsYouGo),
        ("pay_up_front", .payUpFront), ("one_time", .oneTime),
    ]

    var unknown: JSON? {
        if case .unknown(let raw) = self { .string(raw) } else { nil }
    }

    init?(unknown: JSON) {
        guard let raw = unknown.string else { return nil }
        self = .unknown(raw)
    }
}

extension Ownership: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("purchased", .purchased), ("family_shared", .familyShared),
    ]

    var unknown: JSON? {
        if case .unknown(let raw) = self { .string(raw) } else { nil }
    }

    init?(unknown: JSON) {
        guard let raw = unknown.string else { return nil }
        self = .unknown(raw)
    }
}

extension ExpirationIntent: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("cancelled", .cancelled), ("billing_error", .billingError),
        ("price_increase_refused", .priceIncreaseRefused),
        ("product_unavailable", .productUnavailable), ("other", .other),
    ]

    var unknown: JSON? {
        if case .unknown(let raw) = self { .integer(raw) } else { nil }
    }

    init?(unknown: JSON) {
        guard let raw = unknown.integer else { return nil }
        self = .unknown(raw)
    }
}

extension PriceConsent: WordCodable {
    static let words: [(word: String, value: Self)] = [("pending", .pending), ("given", .given)]

    var unknown: JSON? {
        if case .unknown(let raw) = self { .integer(raw) } else { nil }
    }

    init?(unknown: JSON) {
        guard let raw = unknown.integer else { return nil }
        self = .unknown(raw)
    }
}
