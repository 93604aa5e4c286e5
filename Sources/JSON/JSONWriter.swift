/// Writes an object member by member, without storing the values.
package struct WrittenObject: JSONMembers {
    private var bytes: [UInt8] = []
    private var isEmpty = true

    /// Returns the JSON text of an object with the members that `append` adds. `room` is the number
    /// of bytes to allocate in advance.
    package static func bytes(
        room: Int, members append: (inout WrittenObject) -> Void
    ) -> [UInt8] {
        var object = WrittenObject()
        object.bytes.reserveCapacity(room)
        object.bytes.append(UInt8(ascii: "{"))
        object.nest(append)
        return object.bytes
    }

    private init() {}

    /// The number of bytes written so far.
    package var end: Int { bytes.count }

    package mutating func append(_ name: JSONName, _ flag: Bool) {
        appendMember(flag ? name.asTrue : name.asFalse)
    }

    package mutating func append(_ name: JSONName, _ text: String?) {
        guard let text else { return appendMember(name.asNull) }
        appendMember(name.beforeText)
        JSON.writeContent(text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func append(_ name: JSONName, writing write: (inout [UInt8]) -> Void) {
        appendMember(name.beforeText)
        write(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func append(_ name: JSONName, _ number: Int64) {
        append(name, value: { $0.append(text: String(number)) })
    }

    /// Adds a member. `write` appends the JSON text of its value.
    package mutating func append(_ name: JSONName, value write: (inout [UInt8]) -> Void) {
        appendMember(name.beforeValue)
        write(&bytes)
    }

    /// Adds an object as a member.
    package mutating func append(
        _ name: JSONName, members append: (inout WrittenObject) -> Void
    ) {
        appendMember(name.beforeObject)
        nest(append)
    }

    /// Adds an object under a name that is not known in advance.
    package mutating func append(named name: String, members append: (inout WrittenObject) -> Void)
    {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        JSON.write(name: name, to: &bytes)
        bytes.append(UInt8(ascii: "{"))
        nest(append)
    }

    /// Writes everything after the opening brace.
    private mutating func nest(_ append: (inout WrittenObject) -> Void) {
        isEmpty = true
        append(&self)
        bytes.append(UInt8(ascii: "}"))
        isEmpty = false
    }

    /// Writes a member or the beginning of one, after a comma if needed.
    private mutating func appendMember(_ member: [UInt8]) {
        if isEmpty {
            bytes.append(contentsOf: member.dropFirst())
            isEmpty = false
        } else {
            bytes.append(contentsOf: member)
        }
    }
}

extension JSON {
    /// This value as compact JSON text, with its members in order.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        write(to: &bytes)
        return bytes
    }

    /// This value as compact JSON text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// This value as readable JSON, with one line for each member.
    package var prettyText: String {
        var bytes: [UInt8] = []
        writePretty(to: &bytes, indent: 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    package func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(text: "null")
        case .bool(let value): bytes.append(text: value ? "true" : "false")
        case .integer(let value): bytes.append(text: String(value))
        case .decimal(let text): bytes.append(text: text)
        case .string(let text): JSON.write(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSON.write(name: member.name, to: &bytes)
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private func writePretty(to bytes: inout [UInt8], indent: Int) {
        switch self {
        case .array(let elements) where !elements.isEmpty:
            JSON.writeLines(elements, "[", "]", to: &bytes, indent: indent) { element, bytes in
                element.writePretty(to: &bytes, indent: indent + 1)
            }
        case .object(let object) where !object.isEmpty:
            JSON.writeLines(object.members, "{", "}", to: &bytes, indent: indent) {
                member, bytes in
                JSON.write(member.name, to: &bytes)
                bytes.append(contentsOf: ": ".utf8)
                member.value.writePretty(to: &bytes, indent: indent + 1)
            }
        default: write(to: &bytes)
        }
    }

    private static func writeLines<Item>(
        _ items: [Item], _ open: String, _ close: String, to bytes: inout [UInt8], indent: Int,
        _ writeItem: (Item, inout [UInt8]) -> Void
    ) {
        bytes.append(contentsOf: open.utf8)
        for (index, item) in items.enumerated() {
            bytes.append(contentsOf: index > 0 ? ",\n".utf8 : "\n".utf8)
            bytes.append(contentsOf: repeatElement(0x20, count: 2 * (indent + 1)))
            writeItem(item, &bytes)
        }
        bytes.append(0x0A)
        bytes.append(contentsOf: repeatElement(0x20, count: 2 * indent))
        bytes.append(contentsOf: close.utf8)
    }

    package static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        writeContent(text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes the part between the quotation marks.
    fileprivate static func writeContent(_ text: String, to bytes: inout [UInt8]) {
        if needsEscapes(text.utf8.span) {
            writeEscaped(text, to: &bytes)
        } else {
            bytes.append(text: text)
        }
    }

    /// Writes a member's name and the colon.
    static func write(name: String, to bytes: inout [UInt8]) {
        write(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    private static func needsEscapes(_ text: Span<UInt8>) -> Bool {
        for place in text.indices {
            switch text[place] {
            case 0..<0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "\\"): return true
            default: continue
            }
        }
        return false
    }

    private static func writeEscaped(_ text: String, to bytes: inout [UInt8]) {
        let hex = Array("0123456789abcdef".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20, 0x7F:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(hex[Int(byte >> 4)])
                bytes.append(hex[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
    }
}

extension [UInt8] {
    package mutating func append(text: String) {
        var text = text
        text.withUTF8 { unsafe append(contentsOf: $0) }
    }
}
