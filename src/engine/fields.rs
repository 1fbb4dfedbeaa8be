//! Reads the structs of our JSON files field by field. serde's derived code is three times as large, because it keeps
//! every field aside until all are there.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::value::{self, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

pub trait Fields: Default {
    /// Reads the value of a named field. An unknown field is kept in the struct's map, or skipped.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

/// Implements `Fields` and `Deserialize`: `read_fields!(Struct { field, other as "its name" })`. Behind that, in this
/// order, `kept more` names the map of unknown fields, and `unread field` a field that no file has. All fields must be
/// named.
macro_rules! read_fields {
    ($type:ident { $($field:ident $(as $name:literal)?),+ $(,)? } $(kept $more:ident)? $(unread $unread:ident)?) => {
        impl $crate::engine::fields::Fields for $type {
            fn read<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                name: &str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                let Self { $($field,)+ $($more,)? $($unread: _,)? } = self;
                match name {
                    $($crate::engine::fields::read_fields!(@name $field $($name)?) => *$field = map.next_value()?,)+
                    _ => $crate::engine::fields::read_fields!(@other name map $($more)?),
                }
                Ok(())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                $crate::engine::fields::read(reader)
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (@other $given:ident $map:ident) => { _ = $map.next_value::<serde::de::IgnoredAny>()? };
    (@other $given:ident $map:ident $more:ident) => { _ = $more.insert($given.to_owned(), $map.next_value()?) };
}
pub(crate) use read_fields;

/// Files leave out a field with this value.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The name of a unit variant in our files and outputs.
pub fn name_of(value: impl Serialize) -> String {
    let name = serde_json::to_value(value).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// The inverse of [`name_of`].
pub fn named<'de, T: Deserialize<'de>>(name: &'de str) -> Option<T> {
    T::deserialize(StrDeserializer::<value::Error>::new(name)).ok()
}

pub fn read<'de, T: Fields, D: Deserializer<'de>>(reader: D) -> Result<T, D::Error> {
    reader.deserialize_map(Object(PhantomData))
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Fields> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut whole = T::default();
        while let Some(FieldName(name)) = map.next_key()? {
            whole.read(&name, &mut map)?;
        }
        Ok(whole)
    }
}

/// Borrows the name from the text where that is possible.
struct FieldName<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for FieldName<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_str(FieldNameVisitor)
    }
}

struct FieldNameVisitor;

impl<'de> Visitor<'de> for FieldNameVisitor {
    type Value = FieldName<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<FieldName<'de>, E> {
        Ok(FieldName(Cow::Owned(name.to_owned())))
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<FieldName<'de>, E> {
        Ok(FieldName(Cow::Borrowed(name)))
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::{Map, Value, json};

    #[derive(Debug, Default, PartialEq, Serialize)]
    struct Plain {
        first: u32,
        #[serde(rename = "told")]
        second: Option<String>,
        #[serde(skip)]
        counted: u32,
        #[serde(flatten)]
        more: Map<String, Value>,
    }

    read_fields!(Plain { first, second as "told" } kept more unread counted);

    #[derive(Debug, PartialEq)]
    struct Seven {
        most: u32,
    }

    impl Default for Seven {
        fn default() -> Self {
            Self { most: 7 }
        }
    }

    read_fields!(Seven { most });

    #[test]
    fn missing_field_is_default() {
        let text = r#"{"new": [1], "t\u006fld": "yes", "counted": 3, "first": 2}"#;
        let whole: Plain = serde_json::from_str(text).unwrap();
        let more = json!({"new": [1], "counted": 3}).as_object().unwrap().clone();
        assert_eq!(whole, Plain { first: 2, second: Some("yes".to_owned()), counted: 0, more });
        let again: Plain = serde_json::from_value(serde_json::to_value(&whole).unwrap()).unwrap();
        assert_eq!(again, whole);
        assert_eq!(serde_json::from_str::<Seven>(r#"{"other": {}}"#).unwrap(), Seven { most: 7 });
        assert_eq!(serde_json::from_str::<Seven>(r#"{"most": 1}"#).unwrap(), Seven { most: 1 });
    }

    #[test]
    fn non_object_is_refused() {
        for text in ["[2]", "2", "null", r#"{"most": "2"}"#, r#"{"most": null}"#, r#"{"most": 2"#] {
            assert!(serde_json::from_str::<Seven>(text).is_err(), "{text}");
        }
    }
}
