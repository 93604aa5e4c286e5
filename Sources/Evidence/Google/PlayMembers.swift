internal import Core
internal import JSON

/// Reads members in Google Play's answers by their path. A member that Google leaves out has its
/// default value. Whole numbers may be strings, because protocol buffers write 64-bit numbers that way.
struct PlayMembers {
    let object: JSONObject
    private let path: String

    init(_ answer: [UInt8]) throws(EvidenceRefusal) {
        self.init(try Members(answer).object, at: "")
    }

    private init(_ object: JSONObject, at path: String) {
        self.object = object
        self.path = path
    }

    private func name(_ member: String) -> String { path.isEmpty ? member : "\(path).\(member)" }

    private func value<Value>(
        _ member: String, _ convert: (JSON) -> Value?
    ) throws(EvidenceRefusal) -> Value? {
        guard let json = object[member], !json.isNull else { return nil }
        guard let value = convert(json) else { throw .invalidMember(name(member)) }
        return value
    }

    func has(_ member: String) -> Bool { object[member].map { !$0.isNull } ?? false }

    func text(_ member: String) throws(EvidenceRefusal) -> String? {
        try value(member) { $0.string?.writable }
    }

    func required(_ member: String) throws(EvidenceRefusal) -> String {
        guard let text = try text(member), !text.isEmpty else { throw .invalidMember(name(member)) }
        return text
    }

    func flag(_ member: String) throws(EvidenceRefusal) -> Bool {
        try value(member) { $0.bool } ?? false
    }

    func integer(_ member: String) throws(EvidenceRefusal) -> Int64? {
        try value(member) { json in json.integer ?? json.string.flatMap { Int64($0) } }
    }

    /// Returns a time in the format of RFC 3339, truncated to milliseconds.
    func time(_ member: String) throws(EvidenceRefusal) -> Instant? {
        try value(member) { $0.string.flatMap { Instant(text: $0) } }?.stated(by: name(member))
    }

    /// Returns a time in milliseconds since 1970.
    func milliseconds(_ member: String) throws(EvidenceRefusal) -> Instant? {
        try integer(member).map(Instant.init)?.stated(by: name(member))
    }

    func texts(_ member: String) throws(EvidenceRefusal) -> [String] {
        guard let all = try value(member, { $0.array }) else { return [] }
        return try all.map { json throws(EvidenceRefusal) in
            guard let text = json.string?.writable else { throw .invalidMember(name(member)) }
            return text
        }
    }

    func members(_ member: String) throws(EvidenceRefusal) -> PlayMembers? {
        try value(member) { $0.object }.map { PlayMembers($0, at: name(member)) }
    }

    func list(_ member: String, atMost limit: Int) throws(EvidenceRefusal) -> [PlayMembers] {
        let all = try value(member) { $0.array } ?? []
        if all.count > limit { throw .invalidMember(name(member)) }
        var list: [PlayMembers] = []
        for (index, json) in all.enumerated() {
            let place = "\(name(member))[\(index)]"
            guard let object = json.object else { throw .invalidMember(place) }
            list.append(PlayMembers(object, at: place))
        }
        return list
    }

    /// Returns a price, or `nil` if the member is missing.
    func money(_ member: String) throws(EvidenceRefusal) -> PlayMoney? {
        guard let money = try members(member) else { return nil }
        return PlayMoney(
            currency: try money.required("currencyCode"), units: try money.integer("units") ?? 0,
            nanos: try money.integer("nanos") ?? 0)
    }
}

/// An amount in Google's format: whole units and billionths of a unit.
package struct PlayMoney: Hashable, Sendable {
    package let currency: String
    package let units: Int64
    package let nanos: Int64

    package init(currency: String, units: Int64, nanos: Int64) {
        self.currency = currency
        self.units = units
        self.nanos = nanos
    }
}

/// The names by which the app and the store know the customer.
package struct PlayAccounts: Hashable, Sendable {
    /// The app's own name for the account, and for a profile within it.
    package var account: String?
    package var profile: String?
    /// The id of an account that is linked to the Google account.
    package var linked: String?

    package init(account: String? = nil, profile: String? = nil, linked: String? = nil) {
        self.account = account
        self.profile = profile
        self.linked = linked
    }

    init?(_ members: PlayMembers?) throws(EvidenceRefusal) {
        guard let members else { return nil }
        account = try members.text("obfuscatedExternalAccountId")
        profile = try members.text("obfuscatedExternalProfileId")
        linked = try members.text("externalAccountId")
    }
}
