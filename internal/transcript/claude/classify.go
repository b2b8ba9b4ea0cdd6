package claude
type userClass uint8
