/// A value for a parameter of a statement, sent in PostgreSQL's binary form.
package enum Bind: Sendable {
    case text(String?)
    case int8(Int64?)
    case int2(Int16?)
    case bytea([UInt8]?)
    case bool(Bool)
    case texts([String?])
    case int8s([Int64?])
    case int2s([Int16])
    case byteas([[UInt8]?])
    case bools([Bool?])
}

extension Bind {
    /// The bytes that it takes when it is laid out, or a few more.
    fileprivate var room: Int {
        let header = 20
        return switch self {
        case .text(let text): text?.utf8.count ?? 0
        case .bytea(let value): value?.count ?? 0
        case .int8, .int2, .bool: 8
        case .texts(let texts): texts.reduce(header) { $0 + 4 + ($1?.utf8.count ?? 0) }
        case .byteas(let values): values.reduce(header) { $0 + 4 + ($1?.count ?? 0) }
        case .int8s(let numbers): header + 12 * numbers.count
        case .int2s(let numbers): header + 6 * numbers.count
        case .bools(let flags): header + 5 * flags.count
        }
    }
}

/// The parameters of one call, laid out one behind the other.
struct EncodedBinds {
    private(set) var bytes: [UInt8] = []
    /// Where each parameter lies; `nil` is NULL.
    private(set) var ranges: [Range<Int>?] = []

    init(_ binds: [Bind]) {
        ranges.reserveCapacity(binds.count)
        bytes.reserveCapacity(binds.reduce(1) { $0 + $1.room })
        for bind in binds { append(bind) }
        // So that an empty value at the end has an address too; no address would mean NULL.
        bytes.append(0)
    }

    private mutating func append(_ bind: Bind) {
        let start = bytes.count
        let isNull: Bool
        switch bind {
        case .text(let text): isNull = append(text)
        case .int8(let number): isNull = append(number)
        case .int2(let number): isNull = append(number)
        case .bytea(let value): isNull = append(value)
        case .bool(let value):
            bytes.append(value ? 1 : 0)
            isNull = false
        case .texts(let texts): isNull = append(texts, type: .text) { $0.append($1) }
        case .int8s(let numbers): isNull = append(numbers, type: .int8) { $0.append($1) }
        case .int2s(let numbers): isNull = append(numbers, type: .int2) { $0.append($1) }
        case .byteas(let values): isNull = append(values, type: .bytea) { $0.append($1) }
        case .bools(let flags): isNull = append(flags, type: .bool) { $0.append($1) }
        }
        ranges.append(isNull ? nil : start..<bytes.count)
    }

    private mutating func append(_ text: String?) -> Bool {
        guard let text else { return true }
        let source = text.utf8.span
        bytes.append(addingCapacity: source.count) { bytes in
            for place in source.indices { bytes.append(source[place]) }
        }
        return false
    }

    private mutating func append(_ value: [UInt8]?) -> Bool {
        guard let value else { return true }
        bytes.append(contentsOf: value)
        return false
    }

    private mutating func append(_ flag: Bool?) -> Bool {
        guard let flag else { return true }
        bytes.append(flag ? 1 : 0)
        return false
    }

    private mutating func append(_ number: (some FixedWidthInteger)?) -> Bool {
        guard let number else { return true }
        bytes.appendBigEndian(number)
        return false
    }

    private enum ElementType: Int32 {
        case bool = 16
        case bytea = 17
        case int8 = 20
        case int2 = 21
        case text = 25
    }

    private mutating func append<Element>(
        _ elements: [Element], type: ElementType,
        _ appendElement: (inout EncodedBinds, Element) -> Bool
    ) -> Bool {
        let dimensions: Int32 = elements.isEmpty ? 0 : 1
        bytes.appendBigEndian(dimensions)
        bytes.appendBigEndian(Int32(1))
        bytes.appendBigEndian(type.rawValue)
        if elements.isEmpty { return false }
        bytes.appendBigEndian(Int32(elements.count))
        bytes.appendBigEndian(Int32(1))
        for element in elements {
            let lengthAt = bytes.count
            bytes.appendBigEndian(Int32(-1))
            if appendElement(&self, element) { continue }
            let length = UInt32(bytes.count - lengthAt - 4)
            for index in 0..<4 {
                bytes[lengthAt + index] = UInt8(truncatingIfNeeded: length >> (24 - index * 8))
            }
        }
        return false
    }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian(_ number: some FixedWidthInteger) {
        let size = number.bitWidth / 8
        append(addingCapacity: size) { bytes in
            for place in 1...size {
                bytes.append(UInt8(truncatingIfNeeded: number >> (8 * (size - place))))
            }
        }
    }
}
