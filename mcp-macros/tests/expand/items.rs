items![add, tools::profile, Notes::search, <Other<u8>>::r#type]
