package import Core
package import JSON

extension ReconciliationFinished {
    /// The members that tell what a run came to.
    package var members: [(name: String, value: JSON)] {
        var object = JSONObject()
        for step in ReconcileStep.allCases {
            if let counts = steps[step] { object.append(step.rawValue, counts.json) }
        }
        return [
            ("steps", .object(object)), ("drift", .integer(drift)),
            ("errors", .array(errors.map(JSON.string))),
            ("notes", .array(notes.map(JSON.string))), ("seconds", .decimal(seconds)),
        ]
    }

    /// With three digits behind the point.
    package var seconds: String {
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

extension Reconciliation {
    package var json: JSON {
        var object = JSONObject()
        object.append("reconciliation", .string(id.text))
        object.append("started_at", .string(startedAt.text))
        object.append("finished_at", .optional(finishedAt?.text))
        for member in finished?.members ?? [] { object.append(member.name, member.value) }
        return .object(object)
    }
}

extension StepCounts {
    fileprivate var json: JSON {
        [
            "looked_at": .integer(lookedAt), "found": .integer(found), "mended": .integer(mended),
        ]
    }
}
