import Core
import JSON

/// Reads a catalog file. Records every problem instead of stopping at the first one.
struct CatalogReader {
    var draft = CatalogDraft()
    private(set) var warnings: [CatalogProblem] = []
    /// The catalog to be replaced; `nil` when reading from the log. Without it, the reader skips
    /// unknown members and accepts ids as they are.
    private let old: Catalog?

    init(after old: Catalog?) {
        self.old = old
    }

    mutating func read(_ json: JSON) {
        guard let file = object(json, at: "") else { return }
        notice(
            file, knowing: ["products", "entitlements", "currencies", "original_app_version"],
            at: "")
        if file["products"] == nil {
            draft.note("products", "is missing; write [] for a catalog that sells nothing")
        }
        for (path, entry) in entries(file, "products") {
            readProduct(entry, at: path)
        }
        draft.entitlementTitles = readTitles(file, "entitlements", knowing: ["ending_soon"]) {
            reader, id, entry, path in
            guard entry["ending_soon"] != nil else { return }
            reader.draft.endingSoon[id] = reader.readDuration(entry, "ending_soon", at: path)
        }
        draft.currencyTitles = readTitles(file, "currencies")
        for (path, entry) in entries(file, "original_app_version") {
            let rule = readRule(entry, at: path)
            draft.originalVersionRules.append(rule)
        }
    }

    private mutating func readProduct(_ json: JSON, at path: String) {
        guard let object = object(json, at: path) else {
            draft.products.append(nil)
            return
        }
        let id: ProductID? = readIdentifier(object, "id", at: path)
        let store = readChoice(object, "store", of: Store.self, at: path, else: .unnamed)
        let entitlements: [EntitlementID] = readIdentifiers(object, "entitlements", at: path)
        let isFamilyShared = readFlag(object, "family_shared", at: path, else: true)
        let kind = readChoice(object, "kind", of: ProductKind.self, at: path, else: nil)
        let members = ["id", "store", "kind", "entitlements", "family_shared"]
        let ofKinds = kind?.members ?? ProductKind.allCases.flatMap(\.members)
        notice(object, knowing: members + ofKinds, at: path)
        if store == .deed {
            draft.note("\(path).store", "is \"deed\"; rights that an admin gives need no product")
        }
        let key = id.flatMap { id in store.map { ProductKey(store: $0, id: id) } }
        let terms = kind.map { readTerms(object, $0, at: path) }
        guard let key, let terms, terms.isWhole else {
            draft.addProduct(
                ProductFragment(key: key, terms: terms?.terms, entitlements: entitlements))
            return
        }
        draft.products.append(
            Product(
                key: key, terms: terms.terms, entitlements: entitlements,
                isFamilyShared: isFamilyShared))
    }

    /// Reads the terms. Replaces unreadable parts, so that it can check everything else.
    private mutating func readTerms(
        _ object: JSONObject, _ kind: ProductKind, at path: String
    ) -> (terms: Product.Terms, isWhole: Bool) {
        switch kind {
        case .consumable:
            return (.consumable(credits: readCredits(object, at: path)), true)
        case .nonConsumable:
            return (.nonConsumable, true)
        case .nonRenewing:
            let stacking = readChoice(
                object, "stacking", of: Product.Stacking.self, at: path, else: .extend)
            let duration = readDuration(object, "duration", at: path)
            let terms = Product.Terms.nonRenewing(
                duration: duration ?? .days(1), stacking: stacking ?? .extend)
            return (terms, duration != nil && stacking != nil)
        case .autoRenewable:
            let terms = Product.Terms.autoRenewable(
                group: readText(object, "group", at: path),
                level: readInteger(object, "level", at: path, else: 1))
            return (terms, true)
        }
    }

    private mutating func readCredits(_ object: JSONObject, at path: String) -> [CurrencyID: Int64]
    {
        guard let json = object["credits"] else { return [:] }
        guard let members = self.object(json, at: "\(path).credits") else { return [:] }
        var credits: [CurrencyID: Int64] = [:]
        for member in members.members {
            let place = "\(path).credits.\(member.name)"
            guard let currency: CurrencyID = identifier(member.name, at: place) else { continue }
            if let amount = wholeNumber(member.value, in: 1...Balances.limit, at: place) {
                credits[currency] = amount
            }
        }
        return credits
    }

    private mutating func readDuration(
        _ object: JSONObject, _ name: String, at path: String
    ) -> CalendarDuration? {
        guard let text = readText(object, name, at: path) else {
            if object[name] == nil {
                draft.note("\(path).\(name)", "is missing; write how long it lasts, as in \"P3M\"")
            }
            return nil
        }
        guard let duration = CalendarDuration(text) else {
            draft.note(
                "\(path).\(name)", "is \"\(text)\"; write an ISO 8601 duration, as in \"P3M\"")
            return nil
        }
        return duration
    }

    private mutating func readTitles<Kind>(
        _ file: JSONObject, _ name: String, knowing others: [String] = [],
        reading rest: (inout CatalogReader, Identifier<Kind>, JSONObject, String) -> Void = {
            _, _, _, _ in
        }
    ) -> [Identifier<Kind>: String] {
        guard let json = file[name], let entries = object(json, at: name) else { return [:] }
        var titles: [Identifier<Kind>: String] = [:]
        for member in entries.members {
            let path = "\(name).\(member.name)"
            guard let id: Identifier<Kind> = identifier(member.name, at: path),
                let entry = object(member.value, at: path)
            else { continue }
            notice(entry, knowing: ["title"] + others, at: path)
            titles[id] = readText(entry, "title", at: path) ?? id.text
            rest(&self, id, entry, path)
        }
        return titles
    }

    private mutating func readRule(_ json: JSON, at path: String) -> OriginalVersionRule? {
        guard let object = object(json, at: path) else { return nil }
        notice(object, knowing: ["app", "below", "entitlements"], at: path)
        let entitlements: [EntitlementID] = readIdentifiers(object, "entitlements", at: path)
        let app: AppID? =
            object["app"] == nil ? nil : readIdentifier(object, "app", at: path)
        guard let below = readText(object, "below", at: path) else {
            if entitlements.isEmpty {
                draft.noteEmpty("\(path).entitlements", "name at least one entitlement")
            }
            if object["below"] == nil {
                draft.note("\(path).below", "is missing; write the first version without the right")
            }
            return nil
        }
        return OriginalVersionRule(app: app, below: below, entitlements: entitlements)
    }
}

// MARK: Shapes

extension CatalogReader {
    private mutating func object(_ json: JSON, at path: String) -> JSONObject? {
        if let object = json.object { return object }
        draft.note(path, "is \(json.typeName); it must be an object")
        return nil
    }

    /// Returns the entries of an array with their paths, or no entries if the array is missing.
    private mutating func entries(_ object: JSONObject, _ name: String) -> [(String, JSON)] {
        guard let json = object[name] else { return [] }
        guard let array = json.array else {
            draft.note(name, "is \(json.typeName); it must be an array")
            return []
        }
        return array.enumerated().map { ("\(name)[\($0)]", $1) }
    }

    private mutating func notice(_ object: JSONObject, knowing names: [String], at path: String) {
        if old == nil { return }
        for member in object.members where !names.contains(member.name) {
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            let remedy =
                nearest(to: member.name, among: names).map { "the nearest is \"\($0)\"" }
                ?? "the known members are \(names.joined(separator: ", "))"
            draft.note(
                place, "is not a known member; \(remedy); correct it or remove it")
        }
    }

    private mutating func readText(_ object: JSONObject, _ name: String, at path: String) -> String?
    {
        guard let json = object[name] else { return nil }
        guard let text = json.string, !text.isEmpty else {
            let found = json.string == nil ? json.typeName : "empty"
            draft.note("\(path).\(name)", "is \(found); it must be a string")
            return nil
        }
        if old != nil, let reason = InvalidIdentifier.Reason(of: text) {
            draft.note("\(path).\(name)", InvalidIdentifier(reason: reason).description)
            return nil
        }
        return text
    }

    private mutating func readInteger(
        _ object: JSONObject, _ name: String, at path: String, else fallback: Int64
    ) -> Int64 {
        guard let json = object[name] else { return fallback }
        return wholeNumber(json, in: 1...Int64.max, at: "\(path).\(name)") ?? fallback
    }

    /// `range` appears only in the message. Validation checks the range of 64-bit numbers.
    private mutating func wholeNumber(
        _ json: JSON, in range: ClosedRange<Int64>, at path: String
    ) -> Int64? {
        if let number = json.integer { return number }
        var found = json.typeName
        if case .decimal(let text) = json {
            let isWhole = text.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
            found = isWhole ? "out of range" : text
        }
        draft.note(
            path,
            "is \(found); write a whole number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    private mutating func readFlag(
        _ object: JSONObject, _ name: String, at path: String, else fallback: Bool
    ) -> Bool {
        guard let json = object[name] else { return fallback }
        if let flag = json.bool { return flag }
        draft.note("\(path).\(name)", "is \(json.typeName); it must be true or false")
        return fallback
    }

    /// Reads one of several words. Returns the fallback if the member is missing.
    private mutating func readChoice<Choice: RawRepresentable & CaseIterable>(
        _ object: JSONObject, _ name: String, of type: Choice.Type, at path: String,
        else fallback: Choice?
    ) -> Choice? where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        guard let json = object[name] else {
            if fallback == nil {
                draft.note("\(path).\(name)", "is missing; write one of \(words)")
            }
            return fallback
        }
        if let choice = json.string.flatMap(Choice.init) { return choice }
        let found = json.string.map { "\"\($0)\"" } ?? json.typeName
        draft.note("\(path).\(name)", "is \(found); write one of \(words)")
        return nil
    }

    private mutating func readIdentifier<Kind>(
        _ object: JSONObject, _ name: String, at path: String
    ) -> Identifier<Kind>? {
        guard let json = object[name] else {
            draft.note("\(path).\(name)", "is missing")
            return nil
        }
        return identifier(json, at: "\(path).\(name)")
    }

    private mutating func readIdentifiers<Kind>(
        _ object: JSONObject, _ name: String, at path: String
    ) -> [Identifier<Kind>] {
        guard let json = object[name] else { return [] }
        guard let array = json.array else {
            draft.note("\(path).\(name)", "is \(json.typeName); it must be an array")
            return []
        }
        var seen: [Identifier<Kind>] = []
        for (index, element) in array.enumerated() {
            let place = "\(path).\(name)[\(index)]"
            guard let id: Identifier<Kind> = identifier(element, at: place) else { continue }
            if seen.contains(id) {
                warnings.append(
                    CatalogProblem(path: place, sentence: "repeats \"\(id)\"; name it once"))
            }
            seen.append(id)
        }
        return seen
    }

    private mutating func identifier<Kind>(_ json: JSON, at path: String) -> Identifier<Kind>? {
        guard let text = json.string else {
            draft.note(path, "is \(json.typeName); it must be a string")
            return nil
        }
        return identifier(text, at: path)
    }

    private mutating func identifier<Kind>(_ text: String, at path: String) -> Identifier<Kind>? {
        do {
            let id = try Identifier<Kind>(text)
            if let old, Kind.self != AppKind.self, let form = id.improperForm, !old.names(text) {
                draft.note(visible(path), "is a new id and \(form)")
            }
            return id
        } catch {
            draft.note(path, error.description)
            return nil
        }
    }
}

extension Catalog {
    /// Returns whether the catalog uses this id in any way.
    fileprivate func names(_ id: String) -> Bool {
        let names: [CatalogName?] = [
            (try? ProductID(id)).map { .product($0) },
            (try? EntitlementID(id)).map { .entitlement($0) },
            (try? CurrencyID(id)).map { .currency($0) },
        ]
        return names.compactMap(\.self).contains(where: knows)
    }
}

extension ProductKind {
    /// The members that exist only for this kind of product.
    fileprivate var members: [String] {
        switch self {
        case .consumable: ["credits"]
        case .nonConsumable: []
        case .nonRenewing: ["duration", "stacking"]
        case .autoRenewable: ["group", "level"]
        }
    }
}
