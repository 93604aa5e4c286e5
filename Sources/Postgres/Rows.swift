internal import CPostgres

/// The rows that a call returned. Owns libpq's memory for them.
package struct Rows: ~Copyable {
    private let result: OpaquePointer

    init(owning result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    package var count: Int { Int(PQntuples(result)) }

    package var columnCount: Int { Int(PQnfields(result)) }

    var status: ExecStatusType { PQresultStatus(result) }

    /// The server's description of the error.
    var error: PostgresError {
        func field(_ code: Int32) -> String? {
            PQresultErrorField(result, code).map { String(cString: $0) }
        }
        let sqlState = field(Int32(UInt8(ascii: "C")))
        return PostgresError(
            sqlState.map(Rows.endsConnection) ?? true ? .connection : .statement,
            sqlState: sqlState, relation: field(Int32(UInt8(ascii: "t"))),
            constraint: field(Int32(UInt8(ascii: "n"))),
            serverMessage: field(Int32(UInt8(ascii: "M"))) ?? "")
    }

    /// Class 08 means that the connection broke. Class 57P and the codes 25P03 and 25P04 mean that the session was idle
    /// for too long, or that its server is stopping or starting.
    private static func endsConnection(_ sqlState: String) -> Bool {
        sqlState.hasPrefix("08") || sqlState.hasPrefix("57P")
            || ["25P03", "25P04"].contains(sqlState)
    }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(result, Int32(row), Int32(column)) == 1
    }

    package func text(_ row: Int, _ column: Int) -> String {
        String(decoding: cell(row, column), as: UTF8.self)
    }

    package func optionalText(_ row: Int, _ column: Int) -> String? {
        isNull(row, column) ? nil : text(row, column)
    }

    package func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        [UInt8](cell(row, column))
    }

    package func bool(_ row: Int, _ column: Int) -> Bool {
        cell(row, column).first == 1
    }

    package func int2(_ row: Int, _ column: Int) -> Int16 {
        Int16(truncatingIfNeeded: integer(row, column))
    }

    package func int8(_ row: Int, _ column: Int) -> Int64 { integer(row, column) }

    package func optionalInt8(_ row: Int, _ column: Int) -> Int64? {
        isNull(row, column) ? nil : integer(row, column)
    }

    /// Returns an integer of 2, 4 or 8 bytes.
    private func integer(_ row: Int, _ column: Int) -> Int64 {
        let cell = cell(row, column)
        var value: Int64 = (cell.first ?? 0) & 0x80 == 0 ? 0 : -1
        for byte in cell { value = value << 8 | Int64(byte) }
        return value
    }

    private func cell(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), Int32(column)),
            count: Int(PQgetlength(result, Int32(row), Int32(column))))
    }
}
