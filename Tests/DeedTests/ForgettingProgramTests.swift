import Core
import Glibc
import JSON
import Minting
import Service
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("What a service forgets", .timeLimit(.minutes(20)))
    final class ForgettingProgramTests {
        private let service: TestService
        private let deed: Installation
        private let folder: EvidenceFolder
        private let store = MintedStore(environment: "Sandbox")
        private var database: ScratchDatabase { service.database }

        /// Creates a shop whose evidence arrived years ago.
        init() throws {
            service = try TestService(
                startingAt: Payload.signedAt.advanced(byMilliseconds: 86_400_000))
            deed = try Installation(service.database)
            folder = try EvidenceFolder()
            try deed.sell(in: folder)
            try service.keys.reload()
            try service.apps.reload()
        }

        private func notify(_ type: String, id: String, _ sale: Sale? = nil) throws {
            let reply = service.send(
                "POST", "/v1/stores/apple/notifications",
                body: store.notification(
                    type, id: id, at: Payload.signedAt, transaction: sale.map(store.transaction)))
            #expect(reply.status == 200, "\(reply.text)")
        }

        /// Makes sales with their notifications, and sends notifications without a sale.
        private func live() throws {
            for number in 1...5 {
                let sale = Sale("\(number)", "level2", .nonConsumable, at: Payload.signedAt)
                try notify("ONE_TIME_CHARGE", id: "a\(number)", sale)
                try notify("ONE_TIME_CHARGE", id: "b\(number)", sale)
                try notify("TEST", id: "c\(number)")
            }
            try database.run(
                """
                insert into deed.histories (project, store, app, environment, original, kept_at)
                values ('default', 'apple', 'a', 'production', 'o', 1)
                """)
        }

        private func audit() throws {
            let audit = try deed.run(
                "audit", "--evidence", "--projections", "--extra-roots", folder.path + "/roots",
                "--json")
            #expect(audit.code == 0, "\(audit.output) \(audit.errors)")
        }

        private func rows(_ table: String) throws -> Int64 {
            try database.number("select count(*) from deed.\(table)")
        }

        private static let forgotten = """
            select count(*) from deed.last_done where what = 'forgetting' and not exists (
                select from deed.histories)
            """

        @Test(
            "Killed meanwhile, it goes on at the next start; what is left is proven and compared",
            arguments: [
                ("delete on deed.histories", "true"),
                ("insert or update on deed.last_done", "new.what = 'forgetting'"),
            ])
        func killed(_ write: String, _ condition: String) throws {
            try live()
            #expect(try rows("evidence") == 15)
            let purchases = try database.text(
                "select string_agg(p::text, ' ' order by p.original) from deed.purchases as p")
            try database.run(
                """
                create function public.wait_here() returns trigger language plpgsql as
                'begin perform pg_advisory_xact_lock(\(Stop.key)); return coalesce(new, old); end';
                create trigger wait_here before \(write)
                for each row when (\(condition)) execute function public.wait_here()
                """)
            var stop = try Stop(database)
            let killed = try deed.serve()
            #expect(try stop.isReached())
            killed.process.signal(SIGKILL)
            _ = killed.process.wait(milliseconds: 5000)
            try stop.free()
            try database.run("drop function public.wait_here cascade")

            let next = try deed.serve()
            #expect(
                try eventually(within: 60_000) { try database.number(Self.forgotten) == 1 })
            next.process.signal(SIGTERM)
            #expect(next.process.wait(milliseconds: 30_000) == 0)
            #expect(try rows("evidence") == 5)
            #expect(try rows("evidence_names") == 0)
            try audit()
            #expect(
                try database.text(
                    "select string_agg(p::text, ' ' order by p.original) from deed.purchases as p")
                    == purchases)
        }

        @Test("With off, nothing goes; an age that is too short, or none, is refused")
        func off() throws {
            try live()
            let serving = try deed.serve("--forget-after", "off")
            Threading.pause(milliseconds: 3000)
            serving.process.signal(SIGTERM)
            #expect(serving.process.wait(milliseconds: 30_000) == 0)
            #expect(try rows("evidence") == 15 && rows("histories") == 1)
            for age in ["P199D", "P0D", "400", "never", "PT4000H"] {
                let refused = try deed.run("serve", "--forget-after", age)
                #expect(refused.code == 2)
                #expect(refused.errors.contains("200 days"), "\(refused.errors)")
            }
        }
    }
}
