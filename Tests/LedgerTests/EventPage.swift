import Core
import Foundation
import JSON

/// The parts of `docs/events.md` that describe the content of events.
struct EventPage {
    struct Misread: Error, CustomStringConvertible {
        let description: String
    }

    /// The kind of a member, according to the page.
    indirect enum Kind {
        case string, integer, boolean, instant
        case words([String], orUnknown: Bool)
        case part(String)
        case list(Kind)
        /// An object with values of this kind under any names.
        case named(Kind)
        case either(Kind, Kind)
        case orNull(Kind)
        /// A value that another page describes.
        case elsewhere
    }

    struct Member {
        let name: String
        let kind: Kind
        let isAlwaysThere: Bool
    }

    struct Section {
        let title: String
        /// The title of the enclosing section.
        let chapter: String
        let members: [Member]
        /// The part that describes the members, if the section itself does not.
        let part: String?
        let example: String?
    }

    let text: String
    let sections: [Section]

    init() throws {
        let text = try EventPage.file("docs/events.md")
        var chapter = ""
        var sections: [Section] = []
        for piece in text.components(separatedBy: "\n## ").dropFirst() {
            let parts = piece.components(separatedBy: "\n### ")
            chapter = EventPage.firstLine(of: parts[0])
            for part in parts.dropFirst() {
                sections.append(try EventPage.section(part, in: chapter))
            }
        }
        self.text = text
        self.sections = sections
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../..")

    /// Returns the content of a file of the project.
    static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the paths of the files in a folder of the project.
    static func files(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .sorted().map { "\(folder)/\($0)" }
    }

    /// The sections about event types, by type.
    var types: [String: Section] {
        let types = sections.filter { $0.title.contains(/^[a-z]+\.[a-z_]+$/) }
        return Dictionary(types.map { ($0.title, $0) }) { one, _ in one }
    }

    var parts: [String: Section] {
        // One event may contain another.
        let parts = sections.filter { $0.chapter == "Parts" } + Array(types.values)
        return Dictionary(parts.map { (EventPage.anchor($0.title), $0) }) { one, _ in one }
    }

    /// Returns the section that lists the members of that type.
    func shape(of type: String) throws -> (name: String, section: Section) {
        guard let section = types[type] else { throw Misread(description: "no section \(type)") }
        guard let part = section.part else { return (type, section) }
        guard let shape = parts[part] else { throw Misread(description: "no part \(part)") }
        return (part, shape)
    }

    /// Returns the anchor of a heading, for links to it.
    static func anchor(_ title: String) -> String {
        String(
            title.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                .map { $0 == " " ? "-" : $0 })
    }

    private static func firstLine(of text: String) -> String {
        String(text.prefix { $0 != "\n" })
    }

    private static func section(_ text: String, in chapter: String) throws -> Section {
        let title = firstLine(of: text)
        let rows = text.split(separator: "\n").drop { $0 != "| member | type | absent | means |" }
            .dropFirst(2).prefix { $0.hasPrefix("|") }
        let members = try rows.map { try member($0, in: title) }
        let part = text.firstMatch(of: /`data` is an? \[[^\]]+\]\(#([\w-]+)\)/)
        let examples = text.matches(of: /```json\n((?s).*?)\n```/)
        if examples.count > 1 { throw Misread(description: "\(title) has several examples") }
        return Section(
            title: title, chapter: chapter, members: members, part: part.map { String($0.1) },
            example: examples.first.map { String($0.1) })
    }

    private static func member(_ row: Substring, in title: String) throws -> Member {
        let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 4, let name = cells[0].wholeMatch(of: /`(\w+)`/),
            cells[2...].allSatisfy({ !$0.isEmpty })
        else { throw Misread(description: "\(title): \(row)") }
        return Member(
            name: String(name.1), kind: try kind(cells[1]), isAlwaysThere: cells[2] == "never")
    }

    private static func kind(_ text: String) throws -> Kind {
        if text.hasSuffix(" or null") { return .orNull(try kind(String(text.dropLast(8)))) }
        if text.hasPrefix("list of ") { return .list(try kind(String(text.dropFirst(8)))) }
        if text.hasPrefix("one of ") {
            return .words(
                text.matches(of: /`(\w+)`/).map { String($0.1) },
                orUnknown: text.hasSuffix("or [unknown](#unknown)"))
        }
        if let link = text.wholeMatch(of: /\[[\w ]+\]\(#([\w-]+)\)( by \w+)?/) {
            let part = Kind.part(String(link.1))
            return link.2 == nil ? part : .named(part)
        }
        if text.contains(/^\[\w+\]\(\w+\.md\)$/) { return .elsewhere }
        if text.contains(/^string by \w+$/) { return .named(.string) }
        if text.contains(/^integer by \w+$/) { return .named(.integer) }
        switch text {
        case "string": return .string
        case "integer": return .integer
        case "boolean": return .boolean
        case "instant": return .instant
        case "string or integer": return .either(.string, .integer)
        default: throw Misread(description: "no type \(text)")
        }
    }
}

/// Compares payloads with the page.
struct EventPageComparison {
    private let page: EventPage
    /// The problems in the order in which they were found, without duplicates.
    private(set) var problems: [String] = []
    /// Whether some payloads had a member and whether some lacked it, by section and member.
    private var seen: [String: (present: Bool, absent: Bool)] = [:]

    init(_ page: EventPage) {
        self.page = page
    }

    mutating func compare(_ payload: JSON, of type: String) throws {
        let (name, section) = try page.shape(of: type)
        compare(payload, to: section, named: name)
    }

    /// Reports members on the page that no payload had, and optional members that every payload had.
    mutating func conclude() {
        for section in page.sections where section.part == nil {
            let name =
                section.chapter == "Parts" ? EventPage.anchor(section.title) : section.title
            for member in section.members {
                let place = "\(name).\(member.name)"
                let seen = seen[place, default: (false, false)]
                if !seen.present { note("\(place) is on the page, and no payload has it") }
                if !seen.absent, !member.isAlwaysThere {
                    note("\(place) may be absent by the page, and each payload has it")
                }
            }
        }
    }

    private mutating func note(_ problem: String) {
        if !problems.contains(problem) { problems.append(problem) }
    }

    private mutating func compare(_ json: JSON, to section: EventPage.Section, named name: String) {
        guard let object = json.object else {
            note("\(name) is \(json.typeName), and an object by the page")
            return
        }
        for member in object.members
        where !section.members.contains(where: { $0.name == member.name }) {
            note("\(name).\(member.name) is not on the page")
        }
        for member in section.members {
            let place = "\(name).\(member.name)"
            guard let value = object[member.name] else {
                seen[place, default: (false, false)].absent = true
                if member.isAlwaysThere { note("\(place) may be absent, and never is by the page") }
                continue
            }
            seen[place, default: (false, false)].present = true
            compare(value, to: member.kind, at: place)
        }
    }

    private mutating func compare(_ json: JSON, to kind: EventPage.Kind, at place: String) {
        switch kind {
        case .part(let name):
            guard let part = page.parts[name] else {
                note("the page has no part \(name), which \(place) is")
                return
            }
            compare(json, to: part, named: name)
        case .list(let element):
            guard let elements = json.array else { return complain(json, place) }
            for each in elements { compare(each, to: element, at: place) }
        case .named(let element):
            guard let members = json.object?.members else { return complain(json, place) }
            for each in members { compare(each.value, to: element, at: place) }
        case .orNull(let other):
            if !json.isNull { compare(json, to: other, at: place) }
        case .words(_, orUnknown: true) where json.object != nil:
            compare(json, to: .part("unknown"), at: place)
        default:
            if !fits(json, kind) { complain(json, place) }
        }
    }

    private func fits(_ json: JSON, _ kind: EventPage.Kind) -> Bool {
        switch kind {
        case .string: json.string != nil
        case .integer: json.integer != nil
        case .boolean: json.bool != nil
        case .instant: json.string.flatMap { Instant(expandedText: $0) } != nil
        case .words(let words, _): json.string.map(words.contains) ?? false
        case .either(let one, let other): fits(json, one) || fits(json, other)
        case .elsewhere: json.object != nil
        case .part, .list, .named, .orNull: false
        }
    }

    private mutating func complain(_ json: JSON, _ place: String) {
        note("\(place) is \(json.text), which the page does not say")
    }
}
