//! Where other runners break: each trap has a test that fails on the naive behaviour.
