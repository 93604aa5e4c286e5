import Core
import JSON

/// Walks a catalog file and notes everything that is wrong instead of stopping at the first.
struct CatalogReader {
    var draft = CatalogDraft()
    private(set) var unknownMembers: [CatalogProblem] = []

    mutating func read(_ json: JSON) {
        guard let file = object(json, at: "") else { return }
        notice(
            file, knowing: ["products", "entitlements", "currencies", "original_app_version"],
            at: "")
        if file["products"] == nil {
            draft.note("products", "is missing; write [] for a catalog that sells nothing")
        }
        for (path, entry) in entries(file, "products") {
            let product = readProduct(entry, at: path)
            draft.products.append(product)
        }
        draft.entitlementTitles = readTitles(file, "entitlements")
        draft.currencyTitles = readTitles(file, "currencies")
        for (path, entry) in entries(file, "original_app_version") {
            let rule = readRule(entry, at: path)
            draft.originalVersionRules.append(rule)
        }
    }

    private mutating func readProduct(_ json: JSON, at path: String) -> Product? {
        guard let object = object(json, at: path) else { return nil }
        let id: ProductID? = readIdentifier(object, "id", at: path)
        let store = readChoice(object, "store", of: Store.self, at: path, else: .apple)
        let entitlements: [EntitlementID] = readIdentifiers(object, "entitlements", at: path)
        let isFamilyShared = readFlag(object, "family_shared", at: path, else: true)
        guard let kind = readChoice(object, "kind", of: ProductKind.self, at: path, else: nil)
        else { return nil }
        let members = ["id", "store", "kind", "entitlements", "family_shared"]
        notice(object, knowing: members + kind.members, at: path)
        guard let terms = readTerms(object, kind, at: path), let id, let store else { return nil }
        if store == .deed {
            draft.note("\(path).store", "is \"deed\"; rights that an admin gives need no product")
        }
        return Product(
            key: ProductKey(store: store, id: id), terms: terms, entitlements: entitlements,
            isFamilyShared: isFamilyShared)
    }

    private mutating func readTerms(
        _ object: JSONObject, _ kind: ProductKind, at path: String
    ) -> Product.Terms? {
        switch kind {
        case .consumable:
            return .consumable(credits: readCredits(object, at: path))
        case .nonConsumable:
            return .nonConsumable
        case .nonRenewing:
            let stacking = readChoice(
                object, "stacking", of: Product.Stacking.self, at: path, else: .extend)
            guard let duration = readDuration(object, at: path), let stacking else { return nil }
            return .nonRenewing(duration: duration, stacking: stacking)
        case .autoRenewable:
            return .autoRenewable(
                group: readText(object, "group", at: path),
                level: readInteger(object, "level", at: path, else: 1))
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
            guard let amount = member.value.integer else {
                draft.note(place, "is \(member.value.typeName); write a whole number")
                continue
            }
            credits[currency] = amount
        }
        return credits
    }

    private mutating func readDuration(_ object: JSONObject, at path: String) -> CalendarDuration? {
        guard let text = readText(object, "duration", at: path) else {
            if object["duration"] == nil {
                draft.note("\(path).duration", "is missing; write how long it lasts, as in \"P3M\"")
            }
            return nil
        }
        guard let duration = CalendarDuration(text) else {
            draft.note(
                "\(path).duration", "is \"\(text)\"; write an ISO 8601 duration, as in \"P3M\"")
            return nil
        }
        return duration
    }

    private mutating func readTitles<Kind>(
        _ file: JSONObject, _ name: String
    ) -> [Identifier<Kind>: String] {
        guard let json = file[name], let entries = object(json, at: name) else { return [:] }
        var titles: [Identifier<Kind>: String] = [:]
        for member in entries.members {
            let path = "\(name).\(member.name)"
            guard let id: Identifier<Kind> = identifier(member.name, at: path),
                let entry = object(member.value, at: path)
            else { continue }
            notice(entry, knowing: ["title"], at: path)
            titles[id] = readText(entry, "title", at: path) ?? id.text
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
        draft.note(path, "is \(json.typeName); it has to be an object")
        return nil
    }

    /// The entries of an array with their paths; none when there is no such member.
    private mutating func entries(_ object: JSONObject, _ name: String) -> [(String, JSON)] {
        guard let json = object[name] else { return [] }
        guard let array = json.array else {
            draft.note(name, "is \(json.typeName); it has to be an array")
            return []
        }
        return array.enumerated().map { ("\(name)[\($0)]", $1) }
    }

    private mutating func notice(_ object: JSONObject, knowing names: [String], at path: String) {
        for member in object.members where !names.contains(member.name) {
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            unknownMembers.append(
                CatalogProblem(path: place, sentence: "means nothing here and is left out"))
        }
    }

    private mutating func readText(_ object: JSONObject, _ name: String, at path: String) -> String?
    {
        guard let json = object[name] else { return nil }
        if let text = json.string, !text.isEmpty { return text }
        let found = json.string == nil ? json.typeName : "empty"
        draft.note("\(path).\(name)", "is \(found); it has to be a text")
        return nil
    }

    private mutating func readInteger(
        _ object: JSONObject, _ name: String, at path: String, else fallback: Int64
    ) -> Int64 {
        guard let json = object[name] else { return fallback }
        if let number = json.integer { return number }
        draft.note("\(path).\(name)", "is \(json.typeName); it has to be a whole number")
        return fallback
    }

    private mutating func readFlag(
        _ object: JSONObject, _ name: String, at path: String, else fallback: Bool
    ) -> Bool {
        guard let json = object[name] else { return fallback }
        if let flag = json.bool { return flag }
        draft.note("\(path).\(name)", "is \(json.typeName); it has to be true or false")
        return fallback
    }

    /// One of a few words; the fallback when the member is not there, if there is a fallback.
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
            draft.note("\(path).\(name)", "is \(json.typeName); it has to be an array")
            return []
        }
        return array.enumerated().compactMap { identifier($1, at: "\(path).\(name)[\($0)]") }
    }

    private mutating func identifier<Kind>(_ json: JSON, at path: String) -> Identifier<Kind>? {
        guard let text = json.string else {
            draft.note(path, "is \(json.typeName); it has to be a text")
            return nil
        }
        return identifier(text, at: path)
    }

    private mutating func identifier<Kind>(_ text: String, at path: String) -> Identifier<Kind>? {
        do {
            return try Identifier(text)
        } catch {
            draft.note(path, error.description)
            return nil
        }
    }
}

extension ProductKind {
    /// The members that only this kind of product has.
    fileprivate var members: [String] {
        switch self {
        case .consumable: ["credits"]
        case .nonConsumable: []
        case .nonRenewing: ["duration", "stacking"]
        case .autoRenewable: ["group", "level"]
        }
    }
}
