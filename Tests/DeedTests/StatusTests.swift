import Foundation
import Glibc
import JSON
import Outbound
import TestSupport
import Testing
import Threading

extension ProgramTests {
    @Suite("One screen", .timeLimit(.minutes(20)))
    struct OneScreen {
        @Test("A server is asked where it really listens, behind TLS and apart")
        func doors() throws {
            let scratch = try ScratchFolder()
            let (certificate, key) = try scratch.makeCertificate("own")
            let apart = "127.0.0.1:\(try freePort())"
            for options in [
                ["--tls-certificate", certificate, "--tls-key", key],
                ["--operations-listen", apart],
                ["--operations-listen", apart, "--tls-certificate", certificate, "--tls-key", key],
            ] {
                let deed = try Installation(ScratchDatabase())
                let service = try deed.serve(options)
                let status = try awaitStatus(of: deed) { $0["instances"]?.array?.count == 1 }
                #expect(status["server"] == "ready", "\(options): \(status.text)")
                let instance = status["instances"]?.array?.first
                #expect(instance?["listen"]?.string == "127.0.0.1:\(service.port)")
                #expect(instance?["ready"] == true && instance?["alive"] == true)
                service.process.signal(SIGTERM)
                #expect(service.process.wait(milliseconds: 60_000) == 0)
                let after = try deed.run("status", "--json", "--listen", "127.0.0.1:1").json
                #expect(after["instances"]?.array?.isEmpty == true)
                #expect(after["server"] == "not running")
            }
        }

        @Test("TLS files that change are read again, and so they are on SIGHUP")
        func renewal() throws {
            let scratch = try ScratchFolder()
            let (certificate, key) = try scratch.makeCertificate("one")
            let other = try scratch.makeCertificate("other")
            // If root starts the service, it runs as another user and must still be able to read these files.
            for file in [key, other.key] { chmod(file, 0o644) }
            let deed = try Installation(ScratchDatabase())
            let service = try deed.serve("--tls-certificate", certificate, "--tls-key", key)
            let url = "https://127.0.0.1:\(service.port)/healthz"
            func isServed(_ file: String) -> Bool {
                guard var client = try? HTTPClient(caFile: file) else { return false }
                return (try? client.send(OutboundRequest("GET", url)))?.status == 200
            }
            #expect(isServed(certificate))
            let first = scratch.file("first.pem")
            try FileManager.default.copyItem(atPath: certificate, toPath: first)
            // A new certificate without its key changes nothing.
            try replace(certificate, by: other.certificate)
            #expect(eventually(within: 60_000) { service.log.contains("tls_not_renewed") })
            #expect(isServed(first))
            try replace(key, by: other.key)
            #expect(eventually(within: 60_000) { isServed(other.certificate) })
            #expect(!isServed(first))
            let renewals = { service.log.components(separatedBy: "\"tls_renewed\"").count - 1 }
            let before = renewals()
            service.process.signal(SIGHUP)
            #expect(eventually(within: 60_000) { renewals() > before })
            #expect(isServed(other.certificate))
            service.process.signal(SIGTERM)
            #expect(service.process.wait(milliseconds: 60_000) == 0)
        }

        @Test("A killed instance is a line that needs a person, until it is back")
        func killed() throws {
            let deed = try Installation(ScratchDatabase())
            let service = try deed.serve()
            _ = try awaitStatus(of: deed) { $0["instances"]?.array?.count == 1 }
            service.process.signal(SIGKILL)
            _ = service.process.wait(milliseconds: 10_000)
            let silent = try awaitStatus(of: deed) {
                $0["instances"]?.array?.first?["alive"] == false
            }
            #expect(silent["instances"]?.array?.first?["ready"] == false)
            let text = try deed.run("status")
            #expect(text.code == 1, "\(text.output)")
            let alarm = text.output.split(separator: "\n").first { $0.hasPrefix("!") }
            #expect(alarm?.contains("has been silent for") == true, "\(text.output)")
        }

        @Test("Each table and index has its size, and the whole its growth in a week and a month")
        func storage() throws {
            let database = try ScratchDatabase()
            let deed = try Installation(database)
            _ = try deed.makeKey()
            func told() throws -> JSON { try deed.run("status", "--storage", "--json").json }
            let first = try told()
            let tables = try #require(first["tables"]?.array)
            let count = "select count(*) from pg_tables where schemaname = 'deed'"
            #expect(try Int64(tables.count) == database.number(count))
            let events = try #require(tables.first { $0["table"] == "events" })
            #expect(try #require(events["bytes"]?.integer) > 0)
            let indexes = (events["indexes"]?.array ?? []).compactMap { $0["index"]?.string }
            #expect(indexes.contains("events_pkey"))
            let sizes = tables.map { table in
                (table["indexes"]?.array ?? []).reduce(table["bytes"]?.integer ?? 0) {
                    $0 + ($1["bytes"]?.integer ?? 0)
                }
            }
            #expect(sizes == sizes.sorted(by: >))
            #expect(first["bytes"]?.integer == sizes.reduce(0, +))
            #expect(first["bytes_in_7_days"]?.isNull == true)
            #expect(first["bytes_in_30_days"]?.isNull == true)
            // Adds measurements of the size from eight and thirty-one days ago.
            try database.run(
                """
                insert into deed.last_done
                select 'storage', now, json_build_object('samples', json_build_array(
                    json_build_object('at', now - 31 * 86400000::bigint, 'bytes', 100),
                    json_build_object('at', now - 8 * 86400000::bigint, 'bytes', 1100)))::text
                from (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now) as clock;
                analyze deed.events
                """)
            let later = try told()
            let bytes = try #require(later["bytes"]?.integer)
            #expect(later["bytes_in_7_days"]?.integer == bytes - 1100)
            #expect(later["bytes_in_30_days"]?.integer == bytes - 100)
            let counted = (later["tables"]?.array ?? []).first { $0["table"] == "events" }
            let inLog = try database.number("select count(*) from deed.events")
            #expect(counted?["rows"]?.integer == inLog)
            let text = try deed.run("status", "--storage")
            #expect(text.code == 0 && text.output.contains("more in 30 days"), "\(text.output)")
            #expect(text.output.contains("  events_pkey"))
        }

        @Test("It fits on a screen, and names what it knows")
        func screen() throws {
            let deed = try Installation(ScratchDatabase())
            _ = try deed.makeKey()
            for number in 0..<12 {
                #expect(try deed.run("project", "create", "p\(number)").code == 0)
            }
            let shown = try deed.run("status", "--listen", "127.0.0.1:1")
            #expect(shown.code == 0, "\(shown.errors)")
            let lines = shown.output.split(separator: "\n")
            #expect(lines.count <= 40, "\(shown.output)")
            for name in ["log", "jobs", "intake", "unclaimed", "reconciled", "last", "storage"] {
                #expect(lines.contains { $0.hasPrefix("  \(name) ") }, "\(name): \(shown.output)")
            }
            let json = try deed.run("status", "--json").json
            #expect(json["reconciled"]?.array?.count == 13)
            #expect((json["storage"]?["bytes"]?.integer ?? 0) > 0)
            #expect(json["last_done"]?["backup"] == JSON.null)
        }

        @Test("A key that ends within 30 days is named until its successor is there")
        func keys() throws {
            let deed = try Installation(ScratchDatabase())
            _ = try deed.makeKey()
            let key = try deed.run(
                "key", "create", "--role", "reader", "--name", "shop", "--expires", "P31D", "--json"
            )
            let early = try deed.run("status", "--listen", "127.0.0.1:1")
            #expect(early.code == 0 && early.output.contains("none expires within 30 days"))
            let id = try #require(try key.json["id"]?.string)
            let brief = try deed.run(
                "key", "create", "--role", "reader", "--name", "till", "--expires", "P29D", "--json"
            )
            let ending = try #require(try brief.json["id"]?.string)
            let shown = try deed.run("status", "--listen", "127.0.0.1:1")
            #expect(shown.code == 1)
            let line = shown.output.split(separator: "\n").first { $0.contains(ending) }
            #expect(line?.hasPrefix("!") == true && !shown.output.contains(id), "\(shown.output)")
            #expect(
                line?.hasSuffix("deed key rotate \(ending) --project default --expires P365D")
                    == true)
            let rotated = try deed.run(
                "key", "rotate", ending, "--project", "default", "--expires", "P365D")
            #expect(rotated.code == 0, "\(rotated.errors)")
            #expect(try deed.run("status", "--listen", "127.0.0.1:1").code == 0)
            let json = try deed.run("status", "--json", "--listen", "127.0.0.1:1").json
            #expect(json["ending_keys"]?.array?.map { $0["rotated"] } == [true])
        }

        private func awaitStatus(
            of deed: Installation, _ holds: (JSON) -> Bool
        ) throws -> JSON {
            let deadline = monotonicMilliseconds() + 120_000
            while true {
                let status = try deed.run("status", "--json").json
                if holds(status) || monotonicMilliseconds() > deadline { return status }
                pause(milliseconds: 500)
            }
        }

        private func replace(_ path: String, by other: String) throws {
            let draft = path + ".new"
            try FileManager.default.copyItem(atPath: other, toPath: draft)
            #expect(rename(draft, path) == 0)
        }
    }
}
