//! The records of the support, and the tools that look things up.

use petalflow::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// What is known about patients, plans and referrals.
#[derive(Debug, Deserialize)]
pub struct Records {
    patients: Vec<Value>,
    eligibility: Vec<Value>,
    referrals: Vec<Value>,
}

impl Records {
    /// The records of the example.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn load() -> petalflow::Result<Self> {
        Ok(serde_json::from_str(include_str!(
            "../../support/records.json"
        ))?)
    }
}

/// A text as it is.
fn exact(text: &str) -> String {
    text.into()
}

/// Lower case letters and digits, with one space between words.
fn words(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

/// A date as year, month and day: people write `2020-01-31`, `2020/01/31`, `01/31/2020` or `01-31-2020`.
fn date(text: &str) -> String {
    let parts: Vec<&str> = text.split(['-', '/']).collect();
    match parts[..] {
        [year, month, day] if year.len() == 4 => format!("{year}-{month}-{day}"),
        [month, day, year] => format!("{year}-{month}-{day}"),
        _ => text.into(),
    }
}

/// Whether a record has this value, if there is one. Texts are compared in this form.
fn has(record: &Value, key: &str, wanted: Option<&str>, form: fn(&str) -> String) -> bool {
    let wanted = wanted.filter(|wanted| !wanted.is_empty());
    wanted.is_none_or(|wanted| {
        let known = record[key].as_str().unwrap_or_default();
        form(known) == form(wanted)
    })
}

fn matched(record: &Value) -> Value {
    let mut found = record.clone();
    found["lookup_status"] = "matched".into();
    found
}

/// Finds a patient by patient ID, phone number or name.
#[tool]
pub(super) fn patient_info_lookup(
    patient_id: Option<String>,
    phone: Option<String>,
    name: Option<String>,
    records: Managed<Records>,
) -> Value {
    let is_one = |patient: &&Value| {
        let is = |key, wanted: &Option<String>, form: fn(&str) -> String| {
            wanted.is_some() && has(patient, key, wanted.as_deref(), form)
        };
        is("patient_id", &patient_id, exact)
            || is("phone", &phone, exact)
            || is("name", &name, words)
    };
    match records.patients.iter().find(is_one) {
        Some(patient) => json!({ "lookup_status": "matched", "record": patient }),
        None => json!({ "lookup_status": "not_found", "record": null }),
    }
}

/// Finds the insurance of a patient by payer, member ID and date of birth.
#[tool]
pub(super) fn insurance_eligibility_lookup(
    payer: Option<String>,
    member_id: Option<String>,
    dob: Option<String>,
    records: Managed<Records>,
) -> Value {
    let is_one = |plan: &&Value| {
        has(plan, "member_id", member_id.as_deref(), exact)
            && has(plan, "dob", dob.as_deref(), date)
            && has(plan, "payer", payer.as_deref(), words)
    };
    records.eligibility.iter().find(is_one).map_or_else(
        || {
            json!({
                "lookup_status": "not_found",
                "eligibility_status": "unknown",
                "notes": "Ask for the payer, the member ID and the date of birth.",
            })
        },
        matched,
    )
}

/// Finds a referral by its ID or by the patient's ID.
#[tool]
pub(super) fn appointment_referral_status_lookup(
    referral_id: Option<String>,
    patient_id: Option<String>,
    records: Managed<Records>,
) -> Value {
    let is_one = |referral: &&Value| {
        let is = |key, wanted: &Option<String>| {
            wanted.is_some() && has(referral, key, wanted.as_deref(), exact)
        };
        is("referral_id", &referral_id) || is("patient_id", &patient_id)
    };
    let found = records.referrals.iter().find(is_one);
    found.map_or_else(
        || json!({ "lookup_status": "not_found", "status": "unknown" }),
        matched,
    )
}
