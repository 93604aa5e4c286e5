/// A sequence of events, such as those about one customer in one project and environment.
package struct Stream: Hashable, Sendable {
    package let project: ProjectID
    package let environment: Environment
    package let customer: CustomerID
    /// The shard that contains this stream for the lifetime of the database.
    package let shard: Shard

    package init(project: ProjectID, environment: Environment, customer: CustomerID) {
        self.project = project
        self.environment = environment
        self.customer = customer
        shard = Shard(of: project, environment, customer)
    }

    /// Compares the shards first, because two streams usually differ in their customers and
    /// therefore in their shards.
    package static func == (one: Stream, other: Stream) -> Bool {
        one.shard == other.shard && one.customer == other.customer
            && one.environment == other.environment && one.project == other.project
    }

    /// Hashes only the customer, which distinguishes streams best.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(customer)
        hasher.combine(shard.number)
    }

    /// Returns the project's own stream, for events that concern the project as a whole.
    package static func ofProject(_ project: ProjectID) -> Stream {
        Stream(project: project, environment: .production, customer: .ofProject)
    }

    /// The stream of the same customer in the sandbox.
    package var inSandbox: Stream {
        Stream(project: project, environment: .sandbox, customer: customer)
    }

    /// The stream of the same customer in the other environment.
    package var inOtherEnvironment: Stream {
        environment == .production ? inSandbox : inProduction
    }

    package var inProduction: Stream {
        Stream(project: project, environment: .production, customer: customer)
    }

    package var isOfProject: Bool { customer == .ofProject }
}

extension CustomerID {
    fileprivate static let ofProject = CustomerID(known: "$project/")

    /// Returns the reserved customer that keeps a purchase until a customer claims it.
    package static func unclaimed(_ purchase: PurchaseID) -> CustomerID {
        CustomerID(known: "$unclaimed/\(purchase)")
    }

    /// Returns the reserved customer whose stream records a store account's customers. News about the account goes
    /// there while the account has no customers.
    package static func unclaimed(_ account: AppTransactionID) -> CustomerID {
        CustomerID(known: "$unclaimed/app:\(account)")
    }

    /// The stream for commands that concern neither a customer nor a purchase. It never contains events.
    package static let noCustomer = CustomerID(known: "$unclaimed/")

    /// The purchase whose events wait in this stream until a customer claims it.
    package var unclaimed: PurchaseID? {
        let prefix = CustomerID.noCustomer.text
        if !text.utf8.starts(with: prefix.utf8) { return nil }
        return PurchaseID(String(text.dropFirst(prefix.count)))
    }

    /// Whether the name is reserved for Deed's internal streams. Back ends may not use such names.
    package var isReserved: Bool {
        text.utf8.first == UInt8(ascii: "$")
            && (text.utf8.starts(with: "$project/".utf8)
                || text.utf8.starts(with: "$unclaimed/".utf8))
    }
}

/// One of the 64 parts into which customers are divided. Each shard numbers its positions
/// separately and without gaps.
package struct Shard: Hashable, Comparable, Sendable {
    package static let count = 64
    package static let all = (0..<Int16(count)).map(Shard.init(number:))

    package let number: Int16

    package init(number: Int16) {
        precondition((0..<Int16(Shard.count)).contains(number), "there is no shard \(number)")
        self.number = number
    }

    fileprivate init(of project: ProjectID, _ environment: Environment, _ customer: CustomerID) {
        var hash = FNV1a64()
        hash.add(project.text.utf8.span)
        hash.add(0)
        hash.add(environment.rawValue.utf8.span)
        hash.add(0)
        hash.add(customer.text.utf8.span)
        self.init(number: Int16(hash.value % UInt64(Shard.count)))
    }

    package static func < (one: Shard, other: Shard) -> Bool { one.number < other.number }
}

/// A place in a shard, written as `17:48213`. A reader that has reached a position has seen
/// everything before it.
package struct Position: Hashable, Sendable, CustomStringConvertible {
    package let shard: Shard
    package let sequence: Int64

    package init(shard: Shard, sequence: Int64) {
        self.shard = shard
        self.sequence = sequence
    }

    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard parts.count == 2, parts[0].utf8.count <= 2, parts[1].utf8.count <= 18,
            parts.allSatisfy({ $0.utf8.allSatisfy(digits.contains) }), let number = Int16(parts[0]),
            let sequence = Int64(parts[1]),
            (0..<Int16(Shard.count)).contains(number)
        else { return nil }
        self.init(shard: Shard(number: number), sequence: sequence)
    }

    package var description: String {
        // Every answer contains a position, and concatenating two strings would take several times as long.
        var text = InlineArray<24, UInt8>(repeating: 0)
        var start = text.count
        func prepend(_ byte: UInt8) {
            start -= 1
            text[start] = byte
        }
        func prepend(_ number: UInt64) {
            var rest = number
            repeat {
                prepend(UInt8(ascii: "0") + UInt8(rest % 10))
                rest /= 10
            } while rest > 0
        }
        prepend(sequence.magnitude)
        if sequence < 0 { prepend(UInt8(ascii: "-")) }
        prepend(UInt8(ascii: ":"))
        prepend(UInt64(shard.number))
        guard let digits = try? UTF8Span(validating: text.span.extracting(last: text.count - start))
        else { preconditionFailure("digits are not UTF-8") }
        return String(copying: digits)
    }
}

struct FNV1a64 {
    var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    }

    mutating func add(_ bytes: Span<UInt8>) {
        for place in bytes.indices { add(bytes[place]) }
    }
}
