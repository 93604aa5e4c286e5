import Core
import JSON

/// An enumeration defined by a store. The store may add values that this release does not know. Known values are
/// encoded as words, and any other value as `{"unknown": raw}`.
protocol WordCodable: PayloadCodable, Equatable {
    static var words: [(word: String, value: Self)] { get }
    static func unknown(_ word: StoreWord) -> Self
    /// The store's own value, if this release has no word for it.
    var unknown: StoreWord? { get }
}

extension WordCodable {
    var payload: JSON {
        if let unknown { return ["unknown": unknown.payload] }
        return .optional(Self.words.first { $0.value == self }?.word)
    }

    init(_ payload: Payload) throws {
        if let known = Self.words.first(where: { $0.word == payload.value.string }) {
            self = known.value
        } else {
            self = .unknown(try payload.part("unknown"))
        }
    }
}

extension StoreWord: PayloadCodable {
    var payload: JSON {
        switch self {
        case .number(let number): .integer(number)
        case .text(let text): .string(text)
        }
    }

    init(_ payload: Payload) throws {
        if let number = payload.value.integer {
            self = .number(number)
        } else if let text = payload.value.string {
            self = .text(text)
        } else {
            throw Payload.Misfit(name: "unknown")
        }
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

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}

extension Revocation.Extent: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("full", .full), ("prorated", .prorated), ("family", .family),
    ]

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}

extension Offer.Kind: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("introductory", .introductory), ("promotional", .promotional), ("code", .code),
        ("win_back", .winBack),
    ]

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}

extension Offer.Discount: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("free_trial", .freeTrial), ("pay_as_you_go", .payAsYouGo),
        ("pay_up_front", .payUpFront), ("one_time", .oneTime),
    ]

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}

extension Ownership: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("purchased", .purchased), ("family_shared", .familyShared),
    ]

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}

extension ExpirationIntent: WordCodable {
    static let words: [(word: String, value: Self)] = [
        ("cancelled", .cancelled), ("billing_error", .billingError),
        ("price_increase_refused", .priceIncreaseRefused),
        ("product_unavailable", .productUnavailable), ("other", .other),
    ]

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}

extension PriceConsent: WordCodable {
    static let words: [(word: String, value: Self)] = [("pending", .pending), ("given", .given)]

    var unknown: StoreWord? {
        if case .unknown(let word) = self { word } else { nil }
    }
}
