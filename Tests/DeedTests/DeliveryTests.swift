import Minting
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Deliveries to two services", .timeLimit(.minutes(20)))
    struct Deliveries {
        @Test(
            "Twelve steps of a life, shuffled, repeated and sent to two processes, end the same"
        )
        func anyOrder() throws {
            let database = try ScratchDatabase()
            let installation = try Installation(database)
            let folder = try EvidenceFolder()
            try installation.sell(in: folder)
            let roots = "\(folder.path)/roots"
            let services = [
                try installation.serve("--extra-roots", roots).url,
                try installation.serve("--extra-roots", roots).url,
            ]
            let key = try installation.makeKey()
            let course = DeliveryCourse(
                MintedStore(environment: "Sandbox"), from: Payload.signedAt, lives: 24)
            let complaints = try course.run {
                let caller = try Caller(key: key, services: services)
                return { method, path, body, service in
                    try caller.call(method, path, body, service)
                }
            }
            #expect(complaints == [])
            try installation.expectWholeLog()
        }
    }
}

/// A client that calls several services.
private final class Caller {
    private var client: APIClient
    private let services: [String]

    init(key: String, services: [String]) throws {
        client = try APIClient(key: key)
        self.services = services
    }

    func call(
        _ method: String, _ path: String, _ body: String, _ service: Int
    ) throws -> (status: Int, text: String) {
        try client.send(method, services[service] + path, body: body)
    }
}
