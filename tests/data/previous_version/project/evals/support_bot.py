def reply(input):
    return "At nine. See you!" if "open" in input else "I could not say."
