mod examples;
mod simulated;
