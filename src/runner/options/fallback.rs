//! The agent that continues where the first choice is at a usage limit or overloaded.

use anyhow::{Context, Result, anyhow, bail};

use super::resolve::{Options, refuse_what_the_agent_cannot_do};
use crate::runner::harness::{HarnessChoice, command};
use crate::settings::table;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentChoice {
    pub harness: HarnessChoice,
    /// `None` leaves the choice to the program.
    pub model: Option<String>,
}

impl Options {
    /// In the order of work: the first choice, the same program with another model, another program.
    pub fn agents(&self) -> Vec<AgentChoice> {
        let agent =
            |harness: &HarnessChoice, model| AgentChoice { harness: harness.clone(), model };
        let mut agents = vec![agent(&self.harness, self.model.clone())];
        agents
            .extend(self.settings.fallback_model().map(|model| agent(&self.harness, Some(model))));
        agents.extend(self.fallback_harness.iter().map(|harness| agent(harness, None)));
        agents
    }

    /// The same options for this agent.
    pub fn with_agent(&self, agent: &AgentChoice) -> Self {
        let AgentChoice { harness, model } = agent.clone();
        Self { harness, model, ..self.clone() }
    }
}

/// Refuses a setting that one of the agents cannot follow, and a fallback that is the same agent.
pub fn refuse_what_the_agents_cannot_do(options: &Options) -> Result<()> {
    refuse_what_the_agent_cannot_do(options)?;
    let settings = &options.settings;
    if let Some(model) = settings.fallback_model() {
        let named = settings.place_of(&table::fallback_model);
        if options.model.as_ref() == Some(&model) {
            bail!(
                "{named} is the model that works already\nname another one, or another agent program with --fallback-harness"
            );
        }
        match &options.harness {
            HarnessChoice::Command(line) if !line.contains("{model}") => bail!(
                "{named} does nothing for this command: it has no {{model}}\nput {{model}} into the command, or name another agent program with --fallback-harness"
            ),
            HarnessChoice::Command(_) => {
                command::plain_model(&model).with_context(|| named)?;
            }
            _ => {}
        }
    }
    let Some(harness) = &options.fallback_harness else { return Ok(()) };
    let named = settings.place_of(&table::fallback_harness);
    if *harness == options.harness {
        bail!(
            "{named} is the agent program that works already\nname another one, or another model with --fallback-model"
        );
    }
    if !options.permissions.arguments.is_empty() {
        bail!(
            "{named} cannot be used with arguments for the agent program: they are those of the first one\nput them into its own settings, or leave {named} out"
        );
    }
    let alone = AgentChoice { harness: harness.clone(), model: None };
    refuse_what_the_agent_cannot_do(&options.with_agent(&alone))
        .map_err(|error| anyhow!("{named}: {error:#}"))
}
