package import Core
package import JSON

extension ReconciliationFinished {
    /// The members of the answer that describe the result of a run.
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

    /// The duration in seconds, with three decimal places.
    package var seconds: String {
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

extension Reconciliation {
    package var json: JSON {
        let head: JSON = [
            "reconciliation": .string(id.text), "started_at": .string(startedAt.text),
            "finished_at": .optional(finishedAt?.text),
        ]
        return (finished?.members ?? []).reduce(head) { $0.with($1.name, $1.value) }
    }
}

extension StepCounts {
    fileprivate var json: JSON {
        [
            "looked_at": .integer(lookedAt), "found": .integer(found), "mended": .integer(mended),
        ]
    }
}
