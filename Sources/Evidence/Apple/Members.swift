internal import Core
internal import JSON

/// Reads the members of a signed statement. A missing member is `nil`. A member of the wrong type leads to a refusal.
struct Members {
    let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    /// Reads the JSON object in `bytes`.
    init(_ bytes: [UInt8]) throws(EvidenceRefusal) {
        do {
            guard let object = try JSON.read(bytes).object else {
                throw EvidenceRefusal.badJSON("the payload is not a JSON object")
            }
            self.object = object
        } catch let error as JSONError {
            throw .badJSON(error.description)
        } catch {
            throw .badJSON("the payload is not a JSON object")
        }
    }

    private func value<Value>(
        _ name: String, _ convert: (JSON) -> Value?
    ) throws(EvidenceRefusal) -> Value? {
        guard let member = object[name], !member.isNull else { return nil }
        guard let value = convert(member) else { throw .invalidMember(name) }
        return value
    }

    func text(_ name: String) throws(EvidenceRefusal) -> String? {
        try value(name) { $0.string?.writable }
    }

    func integer(_ name: String) throws(EvidenceRefusal) -> Int64? {
        try value(name) { $0.integer }
    }

    /// Returns an enumeration's value, which may be a number or a string. A store may add values that this release does
    /// not know.
    func word(_ name: String) throws(EvidenceRefusal) -> StoreWord? {
        try value(name) { json in
            json.integer.map(StoreWord.number) ?? json.string?.writable.map(StoreWord.text)
        }
    }

    func bool(_ name: String) throws(EvidenceRefusal) -> Bool? {
        try value(name) { $0.bool }
    }

    /// Returns a time in milliseconds since 1970. Xcode gives some of them a fraction, which is
    /// dropped, and writes the distant past for a missing date.
    func instant(_ name: String) throws(EvidenceRefusal) -> Instant? {
        guard let milliseconds = try milliseconds(name) else { return nil }
        if isOfXcode, milliseconds == Members.noDateOfXcode { return nil }
        return try Instant(milliseconds: milliseconds).stated(by: name)
    }

    /// The value of `Date.distantPast`. Xcode writes it as the time of the app's first purchase in every app
    /// transaction that it signs.
    private static let noDateOfXcode: Int64 = -62_135_769_600_000

    private func milliseconds(_ name: String) throws(EvidenceRefusal) -> Int64? {
        if isOfXcode, case .decimal(let text)? = object[name],
            let whole = text.split(separator: ".", maxSplits: 1).first.flatMap({ Int64($0) }),
            !text.contains(where: { $0 == "e" || $0 == "E" })
        {
            return whole
        }
        return try integer(name)
    }

    private var isOfXcode: Bool {
        object["environment"] == "Xcode" || object["receiptType"] == "Xcode"
    }

    func members(_ name: String) throws(EvidenceRefusal) -> Members? {
        try value(name) { $0.object }.map(Members.init)
    }

    func identifier<Kind>(_ name: String) throws(EvidenceRefusal) -> Identifier<Kind>? {
        try value(name) { $0.string.flatMap { try? Identifier<Kind>($0) } }
    }

    /// Returns a store's name for a transaction or an account. Deed derives longer ids from such
    /// names, for example the id of an unclaimed purchase, and these must also be valid.
    func storeName<Kind>(_ name: String) throws(EvidenceRefusal) -> Identifier<Kind>? {
        try identifier(name).map { id throws(EvidenceRefusal) in try id.short(in: name) }
    }

    /// Returns the value of the first of these members that exists.
    func first<Value>(
        _ names: String..., read: (String) throws(EvidenceRefusal) -> Value?
    ) throws(EvidenceRefusal) -> Value? {
        for name in names {
            if let value = try read(name) { return value }
        }
        return nil
    }

    func require<Value>(_ name: String, _ value: Value?) throws(EvidenceRefusal) -> Value {
        guard let value else { throw .invalidMember(name) }
        return value
    }
}

extension Identifier {
    /// The maximum length of a store's name. Actual names have twenty digits.
    private static var storeLimit: Int { 128 }

    /// Returns the name. Throws unless it is short enough for the longer ids derived from it.
    func short(in member: String) throws(EvidenceRefusal) -> Self {
        if text.utf8.count > Self.storeLimit { throw .invalidMember(member) }
        return self
    }
}

extension String {
    /// The string, if Deed can store it. PostgreSQL does not allow U+0000. If a row contained that
    /// character, every view that reads the row would fail, for all projects.
    var writable: String? { utf8.contains(0) ? nil : self }
}

extension Instant {
    /// Returns the instant, if it is in the range that all readers of the record can represent, including SQL.
    func stated(by member: String) throws(EvidenceRefusal) -> Instant {
        guard Instant.statable.contains(self) else { throw .instantOutOfRange(member) }
        return self
    }
}
