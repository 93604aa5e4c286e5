import Postgres
import TestSupport
import Testing

@Suite("Binds and rows")
struct BindTests {
    private let database: ScratchDatabase

    init() throws {
        database = try ScratchDatabase(migrated: false)
    }

    @Test(
        "A text comes back byte for byte",
        arguments: [
            nil, "", " ", "u1", "%s' or 1=1; --", "back\\slash\n\ttab", "e\u{301} \u{E9} ß 日本語 👩‍👩‍👧",
            String(repeating: "ü", count: 100_000),
        ] as [String?])
    func text(_ text: String?) throws {
        let statement = Statement("select $1::text")
        try check(statement(.text(text))) { rows in
            #expect(rows.isNull(0, 0) == (text == nil))
            #expect(rows.optionalText(0, 0).map { Array($0.utf8) } == text.map { Array($0.utf8) })
        }
    }

    @Test(
        "An integer of 8 bytes comes back",
        arguments: [nil, 0, 1, -1, 255, 256, -65_536, .max, .min] as [Int64?])
    func int8(_ number: Int64?) throws {
        let statement = Statement("select $1::bigint")
        try check(statement(.int8(number))) { #expect($0.optionalInt8(0, 0) == number) }
    }

    @Test(
        "An integer of 2 bytes comes back", arguments: [nil, 0, 63, -1, .max, .min] as [Int16?])
    func int2(_ number: Int16?) throws {
        let statement = Statement("select $1::smallint")
        try check(statement(.int2(number))) { rows in
            #expect(rows.isNull(0, 0) == (number == nil))
            if let number { #expect(rows.int2(0, 0) == number) }
        }
    }

    @Test("An integer of 4 bytes is read with its sign", arguments: [0, 7, -7, .max, .min])
    func int4(_ number: Int32) throws {
        let statement = Statement("select $1::bigint::integer")
        try check(statement(.int8(Int64(number)))) { #expect($0.int8(0, 0) == Int64(number)) }
    }

    @Test("A truth value comes back", arguments: [true, false])
    func bool(_ value: Bool) throws {
        let statement = Statement("select $1::boolean")
        try check(statement(.bool(value))) { #expect($0.bool(0, 0) == value) }
    }

    @Test("Bytes come back, including none and a mebibyte", arguments: [nil, 0, 1, 1 << 20])
    func bytea(_ count: Int?) throws {
        let bytes = count.map { count in (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) } }
        let statement = Statement("select $1::bytea, octet_length($1::bytea)")
        try check(statement(.bytea(bytes))) { rows in
            #expect(rows.isNull(0, 0) == (bytes == nil))
            if let bytes {
                #expect(rows.bytes(0, 0) == bytes)
                #expect(rows.int8(0, 1) == Int64(bytes.count))
            }
        }
    }

    @Test(
        "An array of texts comes back, with its NULLs and empty texts",
        arguments: [[], [nil], [""], ["a", nil, "", "{\"ü,\"}", "NULL"]] as [[String?]])
    func texts(_ texts: [String?]) throws {
        let statement = Statement(
            "select value from unnest($1::text[]) with ordinality as u (value, n) order by n")
        try check(statement(.texts(texts))) { rows in
            #expect((0..<rows.count).map { rows.optionalText($0, 0) } == texts)
        }
    }

    @Test("An array of integers comes back", arguments: [[], [0, -1, .max, .min]])
    func int8s(_ numbers: [Int64]) throws {
        try check(bigints(.int8s(numbers))) { rows in
            #expect((0..<rows.count).map { rows.int8($0, 0) } == numbers)
        }
    }

    @Test(
        "An array of integers comes back, with its NULLs",
        arguments: [[], [nil, 0, -1, .max, .min]] as [[Int64?]])
    func optionalInt8s(_ numbers: [Int64?]) throws {
        try check(bigints(.optionalInt8s(numbers))) { rows in
            #expect((0..<rows.count).map { rows.optionalInt8($0, 0) } == numbers)
        }
    }

    private func bigints(_ bind: Bind) -> Call {
        Statement(
            "select value from unnest($1::bigint[]) with ordinality as u (value, n) order by n"
        )(bind)
    }

    @Test("An array of small integers comes back", arguments: [[], [0, -1, 63, .min, .max]])
    func int2s(_ numbers: [Int16]) throws {
        let statement = Statement(
            "select value from unnest($1::smallint[]) with ordinality as u (value, n) order by n"
        )
        try check(statement(.int2s(numbers))) { rows in
            #expect((0..<rows.count).map { rows.int2($0, 0) } == numbers)
        }
    }

    @Test(
        "An array of bytes comes back, with its NULLs and empty ones",
        arguments: [[], [nil, [], [0, 255, 0]]] as [[[UInt8]?]])
    func byteas(_ values: [[UInt8]?]) throws {
        let statement = Statement(
            "select value from unnest($1::bytea[]) with ordinality as u (value, n) order by n"
        )
        try check(statement(.byteas(values))) { rows in
            let read = (0..<rows.count).map { rows.isNull($0, 0) ? nil : rows.bytes($0, 0) }
            #expect(read == values)
        }
    }

    @Test("An empty array is empty and not NULL")
    func emptyArray() throws {
        let statement = Statement(
            "select $1::text[] = '{}' and $2::bigint[] = '{}' and $3::bytea[] = '{}'")
        try check(statement(.texts([]), .int8s([]), .byteas([]))) { rows in
            let areEmpty = rows.bool(0, 0)
            #expect(areEmpty)
        }
    }

    @Test("Empty values and NULLs side by side are distinguished")
    func emptyBesideNull() throws {
        let statement = Statement(
            "select $1::text = '', $2::text is null, $3::bytea = ''")
        try check(statement(.text(""), .text(nil), .bytea([]))) { rows in
            #expect((0..<3).allSatisfy { rows.bool(0, $0) })
        }
    }

    /// Runs the call once. Passes its rows to `each`, if there are any.
    private func check(_ call: Call, _ each: (borrowing Rows) -> Void) throws {
        var connection = try Connection.open(database.settings())
        var times = 0
        try connection.run([call]) { _, rows in
            times += 1
            each(rows)
        }
        #expect(times == 1)
    }
}
