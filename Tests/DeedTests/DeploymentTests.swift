import Foundation
import JSON
import TestSupport
import Testing

extension ProgramTests {
    @Suite("Files for operators")
    struct DeploymentTests {
        private static let folder = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "deploy")

        private func text(_ name: String) throws -> String {
            try String(contentsOf: DeploymentTests.folder.appending(path: name), encoding: .utf8)
        }

        /// Runs a program of the machine. Returns its output and its exit code.
        private func run(_ program: String, _ arguments: String...) throws -> (Int32, String) {
            let process = Process()
            let pipe = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [program] + arguments
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            let output = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: output, as: UTF8.self))
        }

        /// Returns the documents of a YAML file.
        private func documents(_ name: String) throws -> [JSON] {
            let program =
                "import json, sys, yaml; "
                + "print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))"
            let path = DeploymentTests.folder.appending(path: name).path
            let (code, output) = try run("python3", "-c", program, path)
            #expect(code == 0, "\(output)")
            return try JSON.read(output.trimmingCharacters(in: .whitespacesAndNewlines)).array ?? []
        }

        @Test(
            "systemd finds nothing wrong with the units",
            arguments: [
                "deed.service", "deed-reconcile.service", "deed-reconcile.timer",
                "deed-backup.service", "deed-backup.timer",
            ])
        func units(name: String) throws {
            let folder = try ScratchFolder()
            // Replaces the program with a harmless one. The timer's service lies next to the timer.
            for unit in Set([name, "deed-reconcile.service", "deed-backup.service"]) {
                let text = try text(unit).replacingOccurrences(
                    of: "/usr/local/bin/deed", with: "/bin/true")
                try text.write(toFile: folder.file(unit), atomically: true, encoding: .utf8)
            }
            let (code, output) = try run("systemd-analyze", "verify", folder.file(name))
            #expect(code == 0, "\(output)")
            #expect(!output.contains(name), "\(output)")
        }

        @Test(
            "The units give a service few rights on the machine",
            arguments: ["deed.service", "deed-reconcile.service", "deed-backup.service"])
        func exposure(name: String) throws {
            let path = DeploymentTests.folder.appending(path: name).path
            let (code, output) = try run("systemd-analyze", "security", "--offline=yes", path)
            #expect(code == 0, "\(output)")
            let level = output.firstMatch(of: /exposure level for [a-z.-]+: ([0-9.]+)/)
            #expect(try #require(Double(level?.1 ?? "")) < 2, "\(output)")
            #expect(try text(name).split(separator: "\n").contains("LimitCORE=0"))
        }

        @Test(
            "Pods have no Kubernetes token, a read-only image, and the policy's connections only",
            arguments: [
                "kubernetes/statefulset.yaml", "kubernetes/reconcile.yaml",
                "kubernetes/backup.yaml",
            ])
        func pods(name: String) throws {
            let spec = try #require(try documents(name).first?["spec"])
            let pod = try #require((spec["jobTemplate"]?["spec"] ?? spec)["template"])
            #expect(pod["spec"]?["automountServiceAccountToken"] == false)
            #expect(pod["spec"]?["securityContext"]?["runAsNonRoot"] == true)
            let containers =
                (pod["spec"]?["containers"]?.array ?? [])
                + (pod["spec"]?["initContainers"]?.array ?? [])
            #expect(containers.count == 2)
            for container in containers {
                let context = try #require(container["securityContext"])
                #expect(context["readOnlyRootFilesystem"] == true)
                #expect(context["allowPrivilegeEscalation"] == false)
                #expect(context["capabilities"] == ["drop": ["ALL"]])
            }
            let policy = try #require(try documents("kubernetes/statefulset.yaml").last?["spec"])
            #expect(policy["policyTypes"] == ["Ingress", "Egress"])
            func ports(_ numbers: JSON...) -> JSON {
                .array(numbers.map { ["port": $0, "protocol": "TCP"] })
            }
            let watching: JSON = [
                "namespaceSelector": [
                    "matchLabels": ["kubernetes.io/metadata.name": "monitoring"]
                ]
            ]
            #expect(
                policy["ingress"] == [
                    ["ports": ports(8080)], ["from": [watching], "ports": ports(9090)],
                ])
            let egress = try #require(policy["egress"]?.array)
            #expect(egress.count == 2)
            #expect(
                egress[0] == [
                    "ports": [
                        ["port": 53, "protocol": "UDP"], ["port": 53, "protocol": "TCP"],
                        ["port": 5432, "protocol": "TCP"],
                    ]
                ])
            // The pods cannot reach anything inside the cluster or the cloud over HTTPS.
            #expect(egress[1]["ports"] == ports(443))
            let blocks = try #require(egress[1]["to"]?.array).map { $0["ipBlock"] }
            #expect(blocks.map { $0?["cidr"]?.string } == ["0.0.0.0/0", "::/0"])
            let left = blocks.flatMap { $0?["except"]?.array ?? [] }.compactMap(\.string)
            for inside in [
                "10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7",
            ] {
                #expect(left.contains(inside), "\(inside)")
            }
            let chosen = policy["podSelector"]?["matchExpressions"]?.array?.first
            #expect(chosen?["key"] == "app")
            let label = try #require(pod["metadata"]?["labels"]?["app"])
            #expect(chosen?["values"]?.array?.contains(label) == true)
        }

        @Test("No secret in the folder goes into an image")
        func image() throws {
            let root = DeploymentTests.folder.deletingLastPathComponent()
            let file = root.appending(path: ".dockerignore")
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            for name in [".env", "*.key", "*.p8", "*.pem", ".git"] {
                #expect(lines.contains(Substring(name)), "\(name)")
            }
        }

        @Test(
            "Both services find the installation's key and the seen log in one folder")
        func folders() throws {
            for name in ["deed.service", "deed-reconcile.service", "deed-backup.service"] {
                let lines = try text(name).split(separator: "\n")
                #expect(lines.contains("StateDirectory=deed"), "\(name)")
                #expect(lines.contains("Environment=DEED_DATA_DIR=/var/lib/deed"), "\(name)")
                #expect(lines.contains("User=deed"), "\(name)")
            }
        }

        @Test(
            "The commands in units and manifests exist in Deed",
            arguments: [
                ["serve", "--listen", ":8080", "--operations-listen", ":9090"],
                ["reconcile", "--repair", "--every-project", "--wait", "3600"],
                ["reconcile", "--repair", "--every-project", "--wait", "3600", "--json"], ["serve"],
                ["backup", "--out", "/var/lib/deed-backups", "--keep", "14"],
            ])
        func commands(arguments: [String]) throws {
            let finished = try Installation(url: "postgresql://nowhere").run(
                arguments + ["--help"])
            #expect(finished.code == 0, "\(finished.errors)")
        }

        @Test("The manifests are valid for Kubernetes, and start tested commands")
        func manifests() throws {
            let service = try documents("kubernetes/statefulset.yaml")
            #expect(
                service.map { $0["kind"]?.string } == ["StatefulSet", "Service", "NetworkPolicy"])
            // How far a service has seen the log must outlive its pod.
            let claims = service[0]["spec"]?["volumeClaimTemplates"]?.array ?? []
            #expect(claims.map { $0["metadata"]?["name"]?.string } == ["data"])
            let volumes = service[0]["spec"]?["template"]?["spec"]?["volumes"]?.array ?? []
            #expect(volumes.map { $0["name"]?.string } == ["secret", "key"])
            let jobs = try ["reconcile", "backup"].map {
                try #require(try documents("kubernetes/\($0).yaml").first)
            }
            for job in jobs {
                #expect(job["kind"] == "CronJob")
                #expect(job["spec"]?["concurrencyPolicy"] == "Forbid")
            }
            let pods = [service[0]["spec"]] + jobs.map { $0["spec"]?["jobTemplate"]?["spec"] }
            let variables = pods.map {
                $0?["template"]?["spec"]?["containers"]?.array?.first?["env"]?.array ?? []
            }
            let data: JSON = ["name": "DEED_DATA_DIR", "value": "/var/lib/deed"]
            #expect(variables[0].contains(data))
            let arguments = pods.map {
                $0?["template"]?["spec"]?["containers"]?.array?.first?["args"]?.array?
                    .compactMap(\.string)
            }
            #expect(
                arguments == [
                    ["serve", "--listen", ":8080", "--operations-listen", ":9090"],
                    ["reconcile", "--repair", "--every-project", "--wait", "3600", "--json"],
                    ["backup", "--out", "/var/backups/deed", "--keep", "14", "--json"],
                ])
        }

        @Test(
            "A pod has the installation's keys where Deed looks for them, for their owner only",
            arguments: [
                "kubernetes/statefulset.yaml", "kubernetes/reconcile.yaml",
                "kubernetes/backup.yaml",
            ])
        func keys(name: String) throws {
            let spec = try #require(try documents(name).first?["spec"])
            let pod = try #require((spec["jobTemplate"]?["spec"] ?? spec)["template"]?["spec"])
            let (first, deed) = (
                try #require(pod["initContainers"]?.array?.first),
                try #require(pod["containers"]?.array?.first)
            )
            let place = "/var/lib/deed-key"
            // The key is copied only to memory, because the group may access everything on a claim.
            #expect(
                try #require(pod["volumes"]?.array).contains([
                    "name": "key", "emptyDir": ["medium": "Memory", "sizeLimit": "1Mi"],
                ]))
            #expect(
                first["volumeMounts"] == [
                    ["name": "secret", "mountPath": "/secret", "readOnly": true],
                    ["name": "key", "mountPath": .string(place)],
                ])
            let mount: JSON = ["name": "key", "mountPath": .string(place), "readOnly": true]
            #expect(deed["volumeMounts"]?.array?.contains(mount) == true)
            let variable: JSON = [
                "name": "DEED_SECRET_KEY_FILE", "value": .string("\(place)/secret.key"),
            ]
            #expect(deed["env"]?.array?.contains(variable) == true)

            // The command does the same here as in the cluster.
            let folder = try ScratchFolder()
            for (number, file) in ["secret.key", "secret.key.next", "secret.key.old.1"].enumerated()
            {
                let path = folder.file("secret/\(file)")
                try FileManager.default.createDirectory(
                    atPath: folder.file("secret"), withIntermediateDirectories: true)
                try String(repeating: "\(number)", count: 64)
                    .write(toFile: path, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o440], ofItemAtPath: path)
            }
            try FileManager.default.createDirectory(
                atPath: folder.file("key"), withIntermediateDirectories: true)
            let words = first["command"]?.array?.compactMap(\.string) ?? []
            #expect(words.dropLast() == ["sh", "-c"])
            let command = try #require(words.last)
                .replacingOccurrences(of: place, with: folder.file("key"))
                .replacingOccurrences(of: " /secret/", with: " \(folder.file("secret"))/")
            // If a pod restarts its first container, the command runs a second time.
            for _ in 1...2 {
                let (code, output) = try run("sh", "-c", command)
                #expect(code == 0, "\(output)")
            }
            for file in ["secret.key", "secret.key.next", "secret.key.old.1"] {
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: folder.file("key/\(file)"))
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
        }

        @Test("The compose file's logins own and serve a database, and neither is a superuser")
        func logins() throws {
            let pair = try PostgresPair()
            let folders = pair.folders.split(separator: ",")
            let script = DeploymentTests.folder.appending(path: "logins.sh").path
            let (code, output) = try run(
                "env", "PGHOST=\(folders[0])", "POSTGRES_USER=deed", "POSTGRES_DB=deed",
                "OWNER_PASSWORD=o", "SERVICE_PASSWORD=s", "sh", script)
            #expect(code == 0, "\(output)")
            let compose = try #require(try documents("../docker-compose.yml").first?["services"])
            let migration = compose["migrate"]
            #expect(migration?["command"] == ["migrate", "--service-login", "deed_server"])
            for (service, login) in [("migrate", "deed_owner"), ("serve", "deed_server")] {
                let url = compose[service]?["environment"]?["DEED_DATABASE_URL"]?.string
                #expect(url?.hasPrefix("postgresql://\(login):") == true)
            }
            try expectServed(pair)
            // Without a grant, an owner who is not a superuser cannot see which standby confirms commits.
            try pair.makeSynchronous()
            let told = try owner(of: pair).run("migrate")
            #expect(told.errors.contains("grant pg_read_all_stats to deed_owner"), "\(told.errors)")
            let seen = "select confirming from deed.standbys()"
            #expect(try queriedNumber(seen, at: url(of: pair, for: "deed_server")) == 1)
            let check = ["doctor", "--only", "standbys_hidden", "--json"]
            let server = try Installation(url: url(of: pair, for: "deed_server"))
            let advice = try #require(try server.run(check).findings.first?.commands.first)
            #expect(advice.place == "sql", "\(advice)")
            try pair.administer(advice.text)
            #expect(try server.run(check).findings.isEmpty)
        }

        /// Expects the owner's login to migrate and the service's login to serve. Neither is a superuser.
        private func expectServed(_ pair: PostgresPair) throws {
            let migrated = try owner(of: pair).run("migrate", "--service-login", "deed_server")
            #expect(migrated.code == 0 && migrated.errors == "", "\(migrated.errors)")
            let served = try Installation(url: url(of: pair, for: "deed_server")).run(
                "project", "create", "default")
            #expect(served.code == 0, "\(served.errors)")
            let superusers = """
                select count(*) from pg_roles
                where rolsuper and rolname in ('deed_owner', 'deed_server', 'deed_service')
                """
            #expect(try queriedNumber(superusers, at: pair.url(of: .primary)) == 0)
        }

        private func owner(of pair: PostgresPair) throws -> Installation {
            try Installation(url: url(of: pair, for: "deed_owner"))
        }

        private func url(of pair: PostgresPair, for login: String) -> String {
            pair.url(of: .primary).replacing("user=deed", with: "user=\(login)")
        }

        @Test("The service has each metric that the rules and the board use")
        func metrics() throws {
            let rules = try documents("monitoring/alerts.yaml")
            #expect((rules.first?["groups"]?.array?.first?["rules"]?.array?.count ?? 0) > 5)
            let board = try JSON.read(text("monitoring/board.json"))
            #expect((board["panels"]?.array?.count ?? 0) > 5)
            let asked = try text("monitoring/alerts.yaml") + text("monitoring/board.json")
            let names = Set(asked.matches(of: /deed_[a-z_]+/).map { String($0.output) })
            let deed = try Installation(ScratchDatabase())
            let service = try deed.serve()
            var client = try APIClient(key: "")
            // Deed counts a request once it is answered.
            #expect(try client.send("GET", "\(service.url)/healthz").status == 200)
            let metrics = try client.send("GET", "\(service.url)/metrics").text
            for name in names.sorted() { #expect(metrics.contains(name), "\(name)") }
        }
    }
}
