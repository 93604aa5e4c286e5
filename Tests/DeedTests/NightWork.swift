import Core
import Glibc
import JSON
import Postgres
import TestSupport
import Testing

extension PracticeGround {
    private func tell(_ method: String, _ path: String, _ body: JSON) throws {
        let answer = try store.ask(method, path, body)
        #expect(answer.status == 200, "\(answer.json)")
    }

    private func send(_ path: String, _ body: JSON, method: String = "POST") throws {
        var client = try APIClient(key: adminKey)
        let answer = try client.send(
            method, "\(service.url)/v1/customers/\(path)", body: body.text)
        #expect(answer.status < 300, "\(answer.text)")
    }

    private func buy(_ customer: String, _ number: Int) throws {
        let digits = String(number, radix: 16)
        let token =
            "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        try send(
            "\(customer)/account_token", ["token": .string(token), "environment": "sandbox"],
            method: "PUT")
        try tell(
            "POST", "/practice/steps",
            [
                "do": "buy", "customer": .string(customer), "product": "pro.month",
                "token": .string(token),
            ])
    }

    /// Creates work for each step of a reconciliation, for `crowd` customers each. No service is
    /// running that would do it.
    func leaveWork(in database: ScratchDatabase, of crowd: Int = 1) throws {
        for number in 0..<crowd { try buy("heard-\(number)", 2 * number) }
        try tell("PUT", "/practice/trouble", ["drop": 1, "seed": 1])
        for number in 0..<crowd { try buy("unheard-\(number)", 2 * number + 1) }
        try tell("POST", "/practice/advance", ["by": "40d"])
        try tell("PUT", "/practice/trouble", [:])
        for number in 0..<crowd {
            for customer in ["first", "second"] {
                try send(
                    "\(customer)-\(number)/grants",
                    ["entitlement": "pro", "reason": "test", "for": "PT1H"])
            }
            try send("ordering-\(number)/orders", ["product": "coins.100", "lifetime": "PT1H"])
        }
        service.process.signal(SIGTERM)
        #expect(service.process.wait(milliseconds: 20_000) == 0)
        try database.run("update deed.test_clock set stands_at = stands_at + 2 * 3600000")
    }
}

extension ScratchDatabase {
    /// Alters rows without Deed. The steps repair a customer's rows when they write that customer.
    func spoilRows() throws {
        try run(
            """
            update deed.customers set runs = '{"pro": "{[1,2)}"}' where customer like 'ordering-%'
            """)
    }
}

extension ReconcileStep {
    /// The command that runs only this step.
    var command: [String] {
        ["reconcile", "--only", rawValue, "--json"]
            + (self == .projections ? ["--full", "--repair"] : [])
    }
}

/// An advisory lock that stops a run during a write, so that the run can be killed.
struct Stop: ~Copyable {
    static let key = 77
    private let database: ScratchDatabase
    private var holder: Connection

    init(_ database: ScratchDatabase) throws {
        var holder = try Connection.open(database.settings())
        try holder.run([Statement("select pg_advisory_lock(77)")()]) { _, _ in }
        self.database = database
        self.holder = holder
    }

    /// The locks in this database. Other tests use the same lock in other databases.
    private static let locks = """
        from pg_locks where locktype = 'advisory' and objid = \(key)
        and database = (select oid from pg_database where datname = current_database())
        """

    /// Returns whether a run has reached the lock.
    func isReached() throws -> Bool {
        try eventually(within: 60_000) {
            try database.number("select count(*) \(Stop.locks) and not granted") > 0
        }
    }

    /// Ends the session that waits for the lock. Its uncommitted work is rolled back.
    func endSession() throws {
        try database.run(
            "do $$ begin perform pg_terminate_backend(pid) \(Stop.locks) and not granted; end $$")
    }

    /// Lets the waiting session continue, and returns when it is done. PostgreSQL finishes the work
    /// that it has received before it notices that the client has died.
    mutating func free() throws {
        try holder.run([Statement("select pg_advisory_unlock(77)")()]) { _, _ in
        }
        #expect(
            try eventually(within: 60_000) {
                try database.number("select count(*) \(Stop.locks)") == 0
            })
    }
}
