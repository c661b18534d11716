//! Models of clouds by their names: where they are is in the environment, as the tools of the clouds have it.

use std::future::ready;

use super::{AccessToken, AzureApi, ProviderModel};
use crate::{LlmError, LlmErrorKind};

/// A cloud whose models have names: a row of [`CLOUDS`].
struct Cloud {
    /// The prefix in `prefix::model`.
    name: &'static str,
    make: fn(&Variables<'_>, String) -> Result<ProviderModel, LlmError>,
}

const AZURE_ENDPOINT: &str = "AZURE_OPENAI_ENDPOINT";
const AZURE_VERSION: &str = "OPENAI_API_VERSION";
const GOOGLE_PROJECT: &str = "GOOGLE_CLOUD_PROJECT";
const GOOGLE_LOCATION: &str = "GOOGLE_CLOUD_LOCATION";
const GOOGLE_SERVER: &str = "GOOGLE_VERTEX_BASE_URL";
const GOOGLE_TOKEN: &str = "CLOUDSDK_AUTH_ACCESS_TOKEN";
#[cfg(feature = "bedrock")]
const AWS_REGION: &str = "AWS_REGION";
#[cfg(feature = "bedrock")]
const AWS_DEFAULT_REGION: &str = "AWS_DEFAULT_REGION";
#[cfg(feature = "bedrock")]
const AWS_ENDPOINT: &str = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME";

/// All clouds.
static CLOUDS: &[Cloud] = &[
    Cloud {
        name: "azure",
        make: azure_chat,
    },
    Cloud {
        name: "azure_resp",
        make: azure_responses,
    },
    Cloud {
        name: "vertex",
        make: vertex,
    },
    Cloud {
        name: "bedrock",
        make: bedrock,
    },
];

/// The variables of an environment.
struct Variables<'v> {
    cloud: &'static str,
    value: &'v dyn Fn(&str) -> Option<String>,
}

impl Variables<'_> {
    fn optional(&self, name: &str) -> Option<String> {
        (self.value)(name).filter(|value| !value.is_empty())
    }

    fn required(&self, name: &str, meaning: &str) -> Result<String, LlmError> {
        self.optional(name).ok_or_else(|| {
            LlmError::request(format!(
                "provider `{}` needs {meaning}; set the environment variable `{name}`",
                self.cloud
            ))
        })
    }
}

/// The model of a cloud with this name, such as `azure::our-gpt-5-mini`. `None` for other names.
pub(super) fn resolve(model: &str) -> Option<Result<ProviderModel, LlmError>> {
    resolve_in(model, &|name| std::env::var(name).ok())
}

fn resolve_in(
    model: &str,
    value: &dyn Fn(&str) -> Option<String>,
) -> Option<Result<ProviderModel, LlmError>> {
    let (prefix, name) = model.split_once("::")?;
    let cloud = CLOUDS.iter().find(|cloud| cloud.name == prefix)?;
    let variables = Variables {
        cloud: cloud.name,
        value,
    };
    Some((cloud.make)(&variables, name.to_string()))
}

fn azure_chat(variables: &Variables<'_>, deployment: String) -> Result<ProviderModel, LlmError> {
    let api = match variables.optional(AZURE_VERSION) {
        Some(api_version) => AzureApi::Deployments { api_version },
        None => AzureApi::Chat,
    };
    azure(variables, deployment, api)
}

fn azure_responses(
    variables: &Variables<'_>,
    deployment: String,
) -> Result<ProviderModel, LlmError> {
    azure(variables, deployment, AzureApi::Responses)
}

fn azure(
    variables: &Variables<'_>,
    deployment: String,
    api: AzureApi,
) -> Result<ProviderModel, LlmError> {
    let resource = variables.required(AZURE_ENDPOINT, "the address of a resource")?;
    Ok(ProviderModel::azure(resource, deployment, api))
}

fn vertex(variables: &Variables<'_>, model: String) -> Result<ProviderModel, LlmError> {
    let project = variables.required(GOOGLE_PROJECT, "a project")?;
    let location = variables.optional(GOOGLE_LOCATION);
    let location = location.unwrap_or_else(|| "global".to_string());
    let at = match variables.optional(GOOGLE_SERVER) {
        Some(server) => ProviderModel::vertex_at(&server, &project, &location, model),
        None => ProviderModel::vertex(&project, &location, model),
    };
    Ok(at.with_token(|| ready(google_token())))
}

/// The token of the environment. It is read again when the server refuses it.
fn google_token() -> Result<AccessToken, petalflow::BoxError> {
    let token = std::env::var(GOOGLE_TOKEN).ok();
    let token = token.filter(|token| !token.is_empty());
    let problem = || {
        let message = format!(
            "provider `vertex` needs a token of Google; set the environment variable `{GOOGLE_TOKEN}`, or a callback with \
             `with_token`"
        );
        LlmError::new(LlmErrorKind::Auth, message)
    };
    Ok(AccessToken::new(token.ok_or_else(problem)?))
}

#[cfg(feature = "bedrock")]
fn bedrock(variables: &Variables<'_>, model: String) -> Result<ProviderModel, LlmError> {
    let region = variables.optional(AWS_REGION);
    let region = match region.or_else(|| variables.optional(AWS_DEFAULT_REGION)) {
        Some(region) => region,
        None => variables.required(AWS_REGION, "a region")?,
    };
    Ok(match variables.optional(AWS_ENDPOINT) {
        Some(address) => ProviderModel::bedrock_at(address, region, model),
        None => ProviderModel::bedrock(region, model),
    })
}

#[cfg(not(feature = "bedrock"))]
fn bedrock(_: &Variables<'_>, model: String) -> Result<ProviderModel, LlmError> {
    Err(LlmError::request(format!(
        "model `bedrock::{model}` needs the feature `bedrock` of `petalflow-llm`; add it to the dependencies of the program"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LlmClient;

    fn of(model: &str, variables: &[(&str, &str)]) -> Result<ProviderModel, LlmError> {
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_string())
        };
        resolve_in(model, &value).expect("it is a cloud")
    }

    #[test]
    fn a_name_and_variables_make_a_model() {
        let azure = [(AZURE_ENDPOINT, "https://ours.openai.azure.com")];
        let google = [(GOOGLE_PROJECT, "ours")];
        for (model, variables, name) in [
            ("azure::our-gpt", &azure, "azure"),
            ("azure_resp::our-gpt", &azure, "azure"),
            ("vertex::claude-sonnet-4-6", &google, "vertex"),
        ] {
            let made = of(model, variables).unwrap();
            let (_, wanted) = model.split_once("::").unwrap();
            assert_eq!((made.name(), made.model()), (name, Some(wanted)));
        }
        assert!(resolve_in("openai::gpt-5", &|_| None).is_none());
        assert!(resolve_in("azure", &|_| None).is_none());
    }

    #[test]
    fn a_missing_variable_is_named() {
        for (model, variable) in [
            ("azure::x", AZURE_ENDPOINT),
            ("azure_resp::x", AZURE_ENDPOINT),
            ("vertex::x", GOOGLE_PROJECT),
        ] {
            let error = of(model, &[(variable, "")]).unwrap_err().to_string();
            assert!(error.contains(&format!("`{variable}`")), "{error}");
        }
    }

    #[cfg(feature = "bedrock")]
    #[test]
    fn bedrock_needs_a_region() {
        let model = "bedrock::eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
        for variable in [AWS_REGION, AWS_DEFAULT_REGION] {
            let made = of(model, &[(variable, "eu-central-1")]).unwrap();
            assert_eq!(made.name(), "bedrock");
        }
        let error = of(model, &[]).unwrap_err().to_string();
        assert!(error.contains("`AWS_REGION`"), "{error}");
    }
}
