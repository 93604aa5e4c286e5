/// The value of a statement's parameter, sent in PostgreSQL's binary format.
package enum Bind: Sendable {
    case text(String?)
    case int8(Int64?)
    case int2(Int16?)
    case bytea([UInt8]?)
    case bool(Bool)
    case texts([String?])
    case int8s([Int64])
    case optionalInt8s([Int64?])
    case int2s([Int16])
    case byteas([[UInt8]?])
    case bools([Bool?])
}

/// The parameters of a call, laid out one after another.
struct EncodedBinds {
    let bytes: [UInt8]
    /// The range of each parameter's bytes; `nil` for NULL.
    let ranges: [Range<Int>?]

    init(_ binds: [Bind]) {
        var ranges: [Range<Int>?] = []
        ranges.reserveCapacity(binds.count)
        // The extra byte ensures that even an empty last value has an address. A value without an address would mean
        // NULL.
        let room = binds.reduce(1) { $0 + $1.room }
        bytes = [UInt8](unsafeUninitializedCapacity: room) { memory, count in
            var writer = BindWriter(UnsafeMutableRawBufferPointer(memory))
            for bind in binds {
                let start = writer.count
                let isNull = !writer.write(bind)
                ranges.append(isNull ? nil : start..<writer.count)
            }
            writer.write(UInt8(0))
            count = writer.count
        }
        self.ranges = ranges
    }
}

extension Bind {
    /// An upper bound for the value's size in memory.
    fileprivate var room: Int {
        switch self {
        case .text(let text): text?.utf8.count ?? 0
        case .bytea(let value): value?.count ?? 0
        case .int8, .int2, .bool: 8
        case .texts(let texts): texts.reduce(Bind.header) { $0 + 4 + ($1?.utf8.count ?? 0) }
        case .byteas(let values): values.reduce(Bind.header) { $0 + 4 + ($1?.count ?? 0) }
        case .int8s(let numbers): Bind.header + 12 * numbers.count
        case .optionalInt8s(let numbers): Bind.header + 12 * numbers.count
        case .int2s(let numbers): Bind.header + 6 * numbers.count
        case .bools(let flags): Bind.header + 5 * flags.count
        }
    }

    /// The size of an array's header.
    private static let header = 20
}

/// Lays out values in memory that is large enough for all of them. Growing an array at each step would take longer than
/// writing the values.
private struct BindWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    private enum ElementType: Int32 {
        case bool = 16
        case bytea = 17
        case int8 = 20
        case int2 = 21
        case text = 25
    }

    /// Writes the value. Returns false for NULL, for which it writes no bytes.
    mutating func write(_ bind: Bind) -> Bool {
        switch bind {
        case .text(let text): writeValue(text) { $0.write($1) }
        case .int8(let number): writeValue(number) { $0.write($1) }
        case .int2(let number): writeValue(number) { $0.write($1) }
        case .bytea(let value): writeValue(value) { $0.write($1) }
        case .bool(let flag): writeValue(flag) { $0.write($1) }
        case .texts(let texts): writeArray(texts, of: .text) { $0.write($1) }
        // Mapped lazily, because an array of optionals would require casting each element.
        case .int8s(let numbers):
            writeArray(numbers.lazy.map(Optional.some), of: .int8) { $0.write($1) }
        case .optionalInt8s(let numbers): writeArray(numbers, of: .int8) { $0.write($1) }
        case .int2s(let numbers):
            writeArray(numbers.lazy.map(Optional.some), of: .int2) { $0.write($1) }
        case .byteas(let values): writeArray(values, of: .bytea) { $0.write($1) }
        case .bools(let flags): writeArray(flags, of: .bool) { $0.write($1) }
        }
    }

    private mutating func writeValue<Value>(
        _ value: Value?, _ writeOne: (inout BindWriter, Value) -> Void
    ) -> Bool {
        guard let value else { return false }
        writeOne(&self, value)
        return true
    }

    private mutating func writeArray<Value>(
        _ elements: some Collection<Value?>, of type: ElementType,
        _ writeOne: (inout BindWriter, Value) -> Void
    ) -> Bool {
        write(Int32(elements.isEmpty ? 0 : 1))
        write(Int32(1))
        write(type.rawValue)
        if elements.isEmpty { return true }
        write(Int32(elements.count))
        write(Int32(1))
        for element in elements {
            let start = count
            write(Int32(-1))
            guard let element else { continue }
            writeOne(&self, element)
            put(Int32(count - start - 4), at: start)
        }
        return true
    }

    mutating func write(_ number: some FixedWidthInteger) {
        put(number, at: count)
        count += MemoryLayout.size(ofValue: number)
    }

    private mutating func write(_ flag: Bool) { write(UInt8(flag ? 1 : 0)) }

    private mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    private mutating func write(_ value: [UInt8]) {
        value.withUnsafeBytes { write($0) }
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= memory.count - count, "a value has more bytes than it declared")
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    private func put(_ number: some FixedWidthInteger, at place: Int) {
        precondition(
            MemoryLayout.size(ofValue: number) <= memory.count - place, "there is no more room")
        memory.storeBytes(of: number.bigEndian, toByteOffset: place, as: type(of: number))
    }
}
