import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@testable import API

/// Makes one stream of each kind unreadable in each way, next to a healthy project. Every route and
/// every job must work for the healthy project as if all streams were readable.
@Suite(
    "Every call and job beside a stream that cannot be read", .serialized, .timeLimit(.minutes(20)))
struct PoisonTableTests {
    enum Sick: String, CaseIterable {
        case customer, project, purchaseKeeper, accountKeeper

        /// The condition that selects the stream's events.
        fileprivate var condition: String {
            switch self {
            case .customer: "project = 'default' and customer = 'sick'"
            case .project: "project = 'sick' and customer = '$project/'"
            case .purchaseKeeper: "project = 'default' and customer = '$unclaimed/apple:66'"
            case .accountKeeper: "project = 'default' and customer = '$unclaimed/app:766'"
            }
        }
    }
    enum Harm: String, CaseIterable {
        case unknownType, newerFormat, unknownWord, damage, badActor, badEnvironment, gap

        fileprivate var change: String {
            switch self {
            case .unknownType: "type = 'customer.teleported'"
            case .newerFormat: "format = 99"
            // A newer release may have other values in each of these texts: a store, a role, a kind.
            case .unknownWord: #"payload = regexp_replace(payload, '":"[^"]*"', '":"steam"', 'g')"#
            case .damage: "payload = '{}'"
            case .badActor: "actor = ''"
            case .badEnvironment: "environment = 'mars'"
            case .gap: "version = version + 100"
            }
        }
    }
    static let cases = Sick.allCases.flatMap { sick in Harm.allCases.map { (sick, $0) } }

    /// A healthy project and the unreadable streams next to it, created once. Each case uses a copy of the database.
    private struct Ward {
        let stage: Stage
        let sickKey: NewKey
        /// The status of each call, and the results of the jobs, while all streams are readable.
        let healthy: [String]

        init() throws {
            stage = try Stage(in: .production)
            let front = stage.front
            try front.service.createProject("sick")
            sickKey = try front.service.key(.admin, project: "sick")
            let given = #"{"entitlement":"pro","for":"P1D","reason":"r","allow_unknown":true}"#
            for customer in ["sick", "well"] {
                let reply = front.send(
                    "POST", "/v1/customers/\(customer)/grants", given, key: front.admin)
                #expect(reply.status == 201)
                let sale = Sale(
                    "of-\(customer)", "level2", .nonConsumable, at: front.daysAgo(2))
                #expect(front.submit(sale, for: customer).status == 200)
            }
            let waiting = Sale("66", "level2", .nonConsumable, at: front.daysAgo(2))
            let told = front.notify(
                front.store.notification(
                    "ONE_TIME_CHARGE", id: "n66", at: front.daysAgo(0),
                    transaction: front.store.transaction(waiting)))
            #expect(told.status == 200)
            let installed = front.store.appTransaction(
                originalVersion: "1.0", account: "766", at: front.daysAgo(9))
            #expect(
                front.submit(["app_transaction": .string(installed)], for: "sharer").status == 200)
            // Each of these streams must exist. This store account is not the sharer's account.
            for sick in Sick.allCases {
                let found = try front.service.database.number(
                    "select count(*) from deed.events where \(sick.condition)")
                #expect(found > 0, "\(sick)")
            }
            // A database in use cannot be copied.
            front.service.close()
            healthy = try PoisonTableTests.outcomes(
                of: stage, through: Ward.service(of: stage, Harm?.none, .customer))
        }

        /// Returns an instance over a copy of the database. The instance has not read any of the streams.
        static func service(
            of stage: Stage, _ harm: Harm?, _ sick: Sick
        ) throws -> TestService {
            let front = stage.front
            let copy = try ScratchDatabase(copying: front.service.database)
            if let harm {
                try copy.run(
                    """
                    alter table deed.events disable trigger all;
                    update deed.events set \(harm.change) where \(sick.condition);
                    alter table deed.events enable trigger all
                    """)
            }
            return try TestService(over: copy, startingAt: front.service.clock.now)
        }
    }
    private static let ward = Result { try Ward() }

    @Test("The others are answered and served as if it were not there", arguments: cases)
    func others(sick: Sick, harm: Harm) throws {
        let ward = try Self.ward.get()
        let service = try Ward.service(of: ward.stage, harm, sick)
        let outcomes = try Self.outcomes(of: ward.stage, through: service)
        for (outcome, healthy) in zip(outcomes, ward.healthy) where outcome != healthy {
            Issue.record("\(outcome), and \(healthy) where nothing is sick")
        }
        #expect(outcomes.count == ward.healthy.count)
        if sick == .project, harm != .badEnvironment {
            let closed = service.sendUnchecked("GET", "/v1/customers/u/balances", key: ward.sickKey)
            #expect(closed.status == 401, "\(closed.text)")
            #expect(service.unread.contains("$project/"))
        }
    }

    /// Returns the status of every route, and the results of each job for healthy neighbours.
    private static func outcomes(of stage: Stage, through service: TestService) throws -> [String] {
        let admin = stage.front.admin
        try service.look()
        var outcomes = try jobs(of: stage, through: service)
        let outlines = Set(
            service.router.outlines.map { "\($0.method) \($0.pattern)" })
        #expect(Set(stage.rows.map(\.call)) == outlines)
        for row in stage.rows {
            let (method, target, body) = stage.request(row)
            let reply = service.sendUnchecked(
                method, target, key: row.role == nil ? nil : admin, body: body)
            outcomes.append("\(row.call): \(reply.status) \(reply.code ?? "")")
        }
        // Applies the catalog that one of the routes has set.
        outcomes.append(contentsOf: try projected(through: service))
        return outcomes
    }

    private static func jobs(of stage: Stage, through service: TestService) throws -> [String] {
        let database = service.database
        service.clock.advance(byMilliseconds: 2 * 86_400_000)
        var done = try projected(through: service)
        _ = try? service.publishBoundaries()
        let ended = try database.number(
            """
            select count(*) from deed.events
            where type = 'access.ended' and project = 'default' and customer = 'well'
            """)
        done.append("boundaries of others: \(ended)")
        _ = try IntakeWorker(Submissions(service.intake, apps: service.apps)).work()
        let judged = try database.number(
            "select count(*) from deed.intake where state <> 'waiting'")
        done.append("evidence that waited: \(judged)")
        try service.refundReports().report(while: { true }, tell: { _ in })
        let night = try service.reconcile(ReconcileWish(project: ProjectID("default")))
        done.append("night: \(night.steps.count) steps")
        try service.keys.reload()
        try service.apps.reload()
        done.append("erasures to finish: \(try service.ports.erasures.unemptied(limit: 9).count)")
        return done
    }

    private static func projected(through service: TestService) throws -> [String] {
        try? service.projectAnew()
        let behind = try service.database.number(
            """
            select count(*) from deed.customers as c join deed.projects as p using (project)
            where c.customer in ('well', 'u1', 'sharer') and c.project = 'default'
                and c.catalog_version < p.catalog_version
            """)
        return ["others behind the catalog: \(behind)"]
    }
}
